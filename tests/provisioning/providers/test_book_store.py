"""The file of leases: it is whole or refused, and one process at a time changes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.providers.book_store import BookFile
from provisioning.providers.entry import Entry
from provisioning.providers.provider import HostOffer, ProviderError
from provisioning.providers.simulated import SimulatedProvider

if TYPE_CHECKING:
    from pathlib import Path

OFFER = HostOffer("small", 400.0, 8192.0, 4, 600.0, 2.0, 60.0)
ENTRY = Entry(1, "r-1", "small", 600.0, 2.0, 60.0, 0.0, "ready", "host-1", ready_at_s=60.0)


def provider(path: Path) -> SimulatedProvider:
    return SimulatedProvider([OFFER], 1, lambda _: False, store=BookFile(path, "simulated"))


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    """The folder is made, and nothing else is left in it."""
    store = BookFile(tmp_path / "new" / "leases.json", "simulated")
    with store.opened() as book:
        book.keep([ENTRY])
    with store.opened() as book:
        assert book.entries == (ENTRY,)
    names = {each.name for each in (tmp_path / "new").iterdir()}
    assert names == {"leases.json", "leases.json.lock"}


def changed(**values: Any) -> str:
    lease = {**vars(ENTRY), **values}
    return json.dumps({"version": 1, "kind": "simulated", "leases": [lease]})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no file of leases: invalid JSON: EOF"),
        (changed()[:-20], "is no file of leases: invalid JSON"),
        ("[]", "is no file of leases: must be a table, got"),
        (
            changed().replace('"version": 1', '"version": 2'),
            "is no file of leases: version: must be 1, got 2",
        ),
        (changed(step="lost"), r"is no file of leases: leases\[0\]\.step: must be 'waiting'"),
        (changed(surprise=1), r"is no file of leases: leases\[0\]\.surprise: unknown key"),
        (changed(number="1"), r"is no file of leases: leases\[0\]\.number: must be a whole number, got '1'"),
        (changed(billing_unit_s=0), r"is no file of leases: leases\[0\]\.billing_unit_s: must be > 0"),
        (changed().replace("simulated", "lab"), "holds leases of a provider of kind 'lab', not 'simulated'"),
        (
            json.dumps({"version": 1, "kind": "simulated", "leases": [vars(ENTRY)] * 2}),
            "is no file of leases: a number or a request is there twice",
        ),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence_and_stays(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "leases.json"
    path.write_text(content)
    with pytest.raises(ProviderError, match=rf"^{path}: {said}") as caught:
        provider(path).lease("small", "r-2", 0.0)
    assert "\n" not in str(caught.value)
    assert path.read_text() == content


def test_a_file_that_another_process_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "leases.json"
    with (
        BookFile(path, "simulated").opened(),
        pytest.raises(ProviderError, match=rf"^{path}: these leases are being changed by another process$"),
    ):
        provider(path).leases(0.0)
    assert not provider(path).leases(0.0)


def test_a_file_that_cannot_be_written_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ProviderError, match=r"leases\.json\.lock: cannot be opened \(\w"):
        provider(tmp_path / "file" / "leases.json").lease("small", "r-1", 0.0)
