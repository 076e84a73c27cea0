"""The challenge's rows of query 2."""

from __future__ import annotations

from topologies.taxi.areas.area_rows import area_state, area_values
from topologies.taxi.areas.profitability import rank_exactly
from topologies.taxi.challenge import output_row


def test_a_row_has_four_values_per_rank_and_nulls_for_missing_ones() -> None:
    """42 columns; median with three digits, profitability with six; one NULL per rank by choice."""
    best = [rank_exactly(161_170, 2_701, 3, 5), rank_exactly(1_001, -501, 2, 4)]
    front = "1970-01-01 00:00:00,1970-01-01 00:02:00,161.170,3,13.505,4.501667,1.1,2,-2.505,-1.252500"
    ranks = [area_values(each) for each in best]
    assert output_row(0, 120, ranks, nulls=4) == ",".join([front, *["NULL"] * 32])
    assert output_row(0, 120, ranks, nulls=1) == ",".join([front, *["NULL"] * 8])


def test_a_state_has_amounts_as_texts() -> None:
    """No reader shall round them."""
    best = [rank_exactly(area * 1_001, 200, 1, 1) for area in range(1, 12)]
    assert area_state(best).endswith('["11.11",1,"1.000","1.000000"]]')
