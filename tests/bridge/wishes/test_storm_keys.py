"""The records of Storm's keys agree with the code, the contract, the page and the tests that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.wire.contract import idl
from bridge.wishes.storm_keys import RECORDS, StormKey, storm_keys_reference
from bridge.wishes.storm_settings import KEYS

ROOT = Path(__file__).parents[3]


def test_the_keys_that_are_sent_are_those_that_are_read() -> None:
    sent = sorted(each.key for each in RECORDS if each.sent)
    assert sent == list(idl.STORM_KEYS) == list(KEYS)


def test_each_key_has_one_record() -> None:
    keys = [each.key for each in RECORDS]
    assert len(keys) == len(set(keys))


def test_a_key_that_is_sent_has_a_test() -> None:
    assert [each.key for each in RECORDS if each.sent and not each.tests] == []


@pytest.mark.parametrize("test", sorted({test for each in RECORDS for test in each.tests}))
def test_the_named_test_exists(test: str) -> None:
    path, _, name = test.partition("::")
    definition = f"def {name}(" if path.endswith(".py") else f"void {name}("
    assert definition in (ROOT / path).read_text()


@pytest.mark.parametrize("record", RECORDS, ids=lambda each: each.key)
def test_a_key_is_heeded_with_a_test_or_is_not_heeded(record: StormKey) -> None:
    assert bool(record.tests) != record.use.startswith("Not heeded")


def test_the_page_is_what_the_records_say() -> None:
    """Run bridge.wishes.storm_keys to renew it."""
    page = (ROOT / "docs" / "storm-keys.md").read_text()
    assert f"this part -->\n{storm_keys_reference()}<!-- end" in page
