"""Ranks of areas: exact order, tops of shares, the merge and its changes."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from topologies.taxi.areas.merging import AreaMerge
from topologies.taxi.areas.profitability import RankedArea, ranked
from topologies.taxi.areas.share_ranking import ShareRanking


def test_scores_order_profitabilities_as_exact_fractions_do() -> None:
    """Also where floating-point numbers cannot tell them apart."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    pairs = [(chance.randint(-(10**6), 10**6), chance.randint(1, 20)) for _ in range(300)]
    pairs += [(3 * 10**30 + extra, empty) for extra in (0, 1, 2) for empty in (1, 3, 2**32 - 1)]
    for one, empty in pairs:
        for other, others in pairs:
            scores = ranked(1, one, empty, 1).score, ranked(2, other, others, 1).score
            assert (scores[0] > scores[1], scores[0] == scores[1]) == (
                Fraction(one, empty) > Fraction(other, others),
                Fraction(one, empty) == Fraction(other, others),
            )


def test_equal_areas_are_ordered_by_freshness_and_then_by_number() -> None:
    """2 dollars for one taxi and 4 for two are the same; the row decides, and in one row the lower area."""
    areas = [ranked(9_009, 400, 1, 5), ranked(7_007, 800, 2, 8), ranked(3_003, 400, 1, 8)]
    assert [each.area for each in sorted(areas, reverse=True)] == [3_003, 7_007, 9_009]


def test_a_share_tells_exactly_when_its_best_eleven_change() -> None:
    """Its top is that of a plain sort, and a change of it, or of a value in it, is told."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    ranking = ShareRanking()
    areas: dict[int, RankedArea] = {}
    top: list[RankedArea] = []
    for row in range(1, 1_500):
        area = chance.randint(1, 18)
        now = ranked(area, chance.randint(0, 9), chance.randint(1, 3), row) if chance.random() < 0.6 else None
        changed = ranking.put(area, now)
        areas = {number: each for number, each in areas.items() if number != area}
        if now is not None:
            areas[area] = now
        expected = sorted(areas.values(), reverse=True)[:11]
        assert ranking.top() == expected
        assert changed or expected == top
        assert not changed or expected != top or len(areas) > 11
        top = expected


@pytest.mark.parametrize(("q2_emit", "due"), [("areas", False), ("values", True)])
def test_a_change_of_values_is_an_answer_only_by_choice(q2_emit: str, due: bool) -> None:
    """The same areas in the same order, one of them with another profit."""
    merge = AreaMerge("values" if q2_emit == "values" else "areas")
    merge.put(0, [ranked(1_001, 400, 1, 1)])
    merge.put(1, [ranked(2_002, 300, 1, 2)])
    assert merge.settle()
    merge.put(1, [ranked(2_002, 300, 1, 3)])
    assert not merge.settle()  # fresher, but nothing that is printed
    merge.put(1, [ranked(2_002, 350, 1, 3)])
    assert merge.settle() == due


def test_the_eleventh_is_told_but_changes_no_answer() -> None:
    """Ten areas and their order are the answer; the eleventh shows whether a tie decided."""
    merge = AreaMerge()
    top = [ranked(area * 1_001, 100 * area, 1, 1) for area in range(13, 2, -1)]
    merge.put(0, top)
    assert merge.settle()
    merge.put(0, [*top[:10], ranked(1_001, 250, 1, 2)])
    assert not merge.settle()
    assert [each.area for each in merge.best()][-2:] == [4_004, 1_001]
    merge.put(1, [ranked(2_002, 5_000, 1, 9)])
    assert merge.settle()
    assert (merge.best()[0].area, len(merge.best())) == (2_002, 11)
