"""The challenge's rows of query 2."""

from __future__ import annotations

from topologies.taxi.areas.area_rows import area_row, area_state
from topologies.taxi.areas.profitability import rank_exactly


def test_a_row_has_four_values_per_rank_and_nulls_for_missing_ones() -> None:
    """42 columns; median with three digits, profitability with six; one NULL per rank by choice."""
    best = [rank_exactly(161_170, 2_701, 3, 5), rank_exactly(1_001, -501, 2, 4)]
    front = "P,D,161.170,3,13.505,4.501667,1.1,2,-2.505,-1.252500"
    assert area_row("P", "D", best) == ",".join([front, *["NULL"] * 32])
    assert area_row("P", "D", best, nulls=1) == ",".join([front, *["NULL"] * 8])


def test_the_eleventh_is_in_the_state_only() -> None:
    """A row holds ten areas, a state what it is given."""
    best = [rank_exactly(area * 1_001, 200, 1, 1) for area in range(1, 12)]
    assert area_row("P", "D", best).endswith(",10.10,1,1.000,1.000000")
    assert area_state(best).endswith('["11.11",1,"1.000","1.000000"]]')
