"""Which turns there are, and in which order."""

from __future__ import annotations

import pytest

from experiments.errors import ExperimentError
from experiments.lab_tiers.variants import turns


def test_all_variants_run_once_in_each_repetition() -> None:
    """Storm's own scheduler comes last; the two under overload differ in what the settings state alone."""
    assert [turn.label for turn in turns(None, 2)] == [
        f"{name}-{repetition}"
        for repetition in (1, 2)
        for name in (
            "cloud-greedy",
            "inop-comb-2",
            "inop-search",
            "overload-blind",
            "overload-heeding",
            "ras",
        )
    ]
    blind, heeding = (turn.variant for turn in turns("overload-heeding,overload-blind", 1))
    assert (blind.strategy, blind.overload, blind.stated) == (heeding.strategy, heeding.overload, False)
    assert heeding.stated


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ExperimentError, match="--only: 'best' is not one of cloud-greedy, inop-comb-2"):
        turns("best", 1)
