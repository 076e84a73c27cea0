"""Settings of the queries' open points."""

from __future__ import annotations

import pytest

from replay.errors import DataError
from replay.expected.semantics import CHOICES, Semantics, parse


def test_the_first_value_of_each_setting_is_the_default() -> None:
    assert Semantics().document() == {key: values[0] for key, values in CHOICES.items()}
    assert parse([]) == Semantics()


def test_every_value_of_every_setting_is_taken() -> None:
    for key, values in CHOICES.items():
        for value in values:
            assert parse([f"{key}={value}"]).document()[key] == value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["median"], "semantics: median: expected KEY=VALUE"),
        (["mean=exact"], "semantics: mean: no such setting; there are nulls, "),
        (["median=mean"], "semantics: median: mean is none of exact, cents"),
        (["median=exact", "median=cents"], "semantics: median: given twice"),
    ],
)
def test_what_is_no_setting_is_refused(settings: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse(settings)
