"""Ranks of areas: exact order, tops of shares, the merge and its changes."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from formats.semantics import Semantics
from topologies.taxi.areas.area import Area
from topologies.taxi.areas.profitability import RankedArea, rank_exactly, rank_in_cents
from topologies.taxi.areas.share_ranking import CentsRanking, ShareRanking, area_merge


def test_scores_order_profitabilities_as_exact_fractions_do() -> None:
    """Also where floating-point numbers are equal."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    pairs = [(chance.randint(-(10**6), 10**6), chance.randint(1, 20)) for _ in range(100)]
    pairs += [(3 * 10**30 + extra, empty) for extra in (0, 1, 2) for empty in (1, 3, 2**32 - 1)]
    for one, empty in pairs:
        for other, others in pairs:
            scores = rank_exactly(1, one, empty, 1).score, rank_exactly(2, other, others, 1).score
            assert (scores[0] > scores[1], scores[0] == scores[1]) == (
                Fraction(one, empty) > Fraction(other, others),
                Fraction(one, empty) == Fraction(other, others),
            )


def test_equal_areas_are_ordered_by_freshness_and_then_by_number() -> None:
    """2 dollars for one taxi and 4 for two are the same; the row decides, and in one row the lower area."""
    areas = [rank_exactly(9_009, 400, 1, 5), rank_exactly(7_007, 800, 2, 8), rank_exactly(3_003, 400, 1, 8)]
    assert [each.area for each in sorted(areas, reverse=True)] == [3_003, 7_007, 9_009]


@pytest.mark.parametrize(
    ("areas", "profits", "steps"),
    [(18, 9, 1_000), (200, 1_000_000, 1_500), (200, 3, 1_500)],
    ids=["few", "many", "many equal"],
)
def test_a_share_always_knows_its_best_eleven(areas: int, profits: int, steps: int) -> None:
    """Its top is that of a plain sort of all areas, and each change of it is reported."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    all_areas = {number: Area(number) for number in range(1, areas + 1)}
    ranking = ShareRanking(Semantics(), all_areas)
    top: list[RankedArea] = []
    tendency = 0.95  # many areas come, then many go, so that the floor rises and falls
    for row in range(1, steps + 1):
        if not row % 250:
            tendency = 1 - tendency
        some = [all_areas[chance.randint(1, areas)] for _ in range(chance.randint(1, 4))]
        for area in some:
            present = chance.random() < tendency
            area.stops = list(range(row, row + chance.randint(1, 3))) if present else []
            area.amounts = [chance.randint(0, profits)]
        changed = ranking.update(dict.fromkeys(some))
        listed = [
            rank_exactly(area.number, area.half_cents(), len(area.stops), area.stops[-1])
            for area in all_areas.values()
            if area.stops
        ]
        expected = sorted(listed, reverse=True)[:11]
        assert ranking.top() == expected
        assert changed or expected == top
        top = expected


@pytest.mark.parametrize("least", [-1_000, -40, 5])
def test_a_share_in_cents_always_knows_its_best_eleven(least: int) -> None:
    """The order is that of whole cents cut towards zero, also around zero, where cutting joins more."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    all_areas = {number: Area(number) for number in range(1, 201)}
    ranking = CentsRanking(Semantics(profitability="cents"), all_areas)
    tendency = 0.95
    for row in range(1, 601):
        if not row % 150:
            tendency = 1 - tendency
        area = all_areas[chance.randint(1, 200)]
        present = chance.random() < tendency
        area.stops = list(range(row, row + chance.randint(1, 9))) if present else []
        area.amounts = [chance.randint(least, least + 40)]
        ranking.update([area])
        listed = [each for each in all_areas.values() if each.stops]
        cut = {each.number: int(Fraction(each.amounts[0], len(each.stops))) for each in listed}
        expected = sorted(listed, key=lambda each: (cut[each.number], each.stops[-1]), reverse=True)
        assert [each.area for each in ranking.top()] == [each.number for each in expected[:11]]


@pytest.mark.parametrize(
    ("half_cents", "empty", "dollars"),
    [(633, 2, 1.58), (-633, 2, -1.58), (-3, 2, 0.0), (600, 3, 1.0), (2, 3, 0.0)],
)
def test_a_cut_profitability_is_printed_as_it_is_ranked(half_cents: int, empty: int, dollars: float) -> None:
    """Towards zero from both sides; one that needs no cut is the same either way."""
    assert f"{rank_in_cents(1, half_cents, empty, 1).dollars:.6f}" == f"{dollars:.6f}"


def test_what_happens_far_below_the_best_is_not_sent() -> None:
    """A share with a hundred areas says nothing of its hundredth."""
    all_areas = {number: Area(number) for number in range(1, 101)}
    ranking = ShareRanking(Semantics(), all_areas)
    for number, area in all_areas.items():
        area.stops, area.amounts = [number], [1_000 * number]
    assert ranking.update(all_areas.values())
    all_areas[1].amounts = [2]
    all_areas[89].amounts = [1]
    assert not ranking.update([all_areas[1], all_areas[89]])
    all_areas[90].amounts = [1]
    assert ranking.update([all_areas[90]])
    assert [each.area for each in ranking.top()] == [*range(100, 90, -1), 88]


@pytest.mark.parametrize(("q2_emit", "due"), [("areas", False), ("values", True)])
def test_a_change_of_values_is_an_answer_only_by_choice(q2_emit: str, due: bool) -> None:
    """The same areas in the same order, one of them with another profit."""
    merge = area_merge("values" if q2_emit == "values" else "areas")
    assert merge.update({0: [rank_exactly(1_001, 400, 1, 1)], 1: [rank_exactly(2_002, 300, 1, 2)]})
    assert not merge.update({1: [rank_exactly(2_002, 300, 1, 3)]})  # fresher, but nothing that is printed
    assert merge.update({1: [rank_exactly(2_002, 350, 1, 3)]}) == due


def test_the_eleventh_is_sent_but_changes_no_answer() -> None:
    """Ten areas and their order are the answer; the eleventh shows whether a tie decided."""
    merge = area_merge()
    top = [rank_exactly(area * 1_001, 100 * area, 1, 1) for area in range(13, 2, -1)]
    assert merge.update({0: top})
    assert not merge.update({0: [*top[:10], rank_exactly(1_001, 250, 1, 2)]})
    assert [each.area for each in merge.best][-2:] == [4_004, 1_001]
    assert merge.update({1: [rank_exactly(2_002, 5_000, 1, 9)]})
    assert (merge.best[0].area, len(merge.best)) == (2_002, 11)
