"""Settings of the queries' open points."""

from __future__ import annotations

import pytest

from formats.semantics import CHOICES, Semantics, parse_settings


def test_the_first_value_of_each_setting_is_the_default() -> None:
    assert Semantics().document() == {key: values[0] for key, values in CHOICES.items()}
    assert parse_settings([]) == Semantics()


def test_every_value_of_every_setting_is_taken() -> None:
    for key, values in CHOICES.items():
        for value in values:
            assert parse_settings([f"{key}={value}"]).document()[key] == value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["median"], "^median: expected KEY=VALUE"),
        (["mean=exact"], "^mean: no such setting; there are nulls, "),
        (["median=mean"], "^median: mean is none of exact, cents"),
        (["median=exact", "median=cents"], "^median: given twice"),
    ],
)
def test_what_is_no_setting_is_refused(settings: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_settings(settings)
