"""Ranks: count first, then freshness; changes of the answer only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topologies.taxi.ranking import PartialRanking, route_merge
from topologies.taxi.window import RouteCount


def updated(ranking: PartialRanking, *entries: RouteCount) -> list[str] | None:
    for entry in entries:
        ranking.update(*entry)
    top = ranking.changed_top()
    return None if top is None else [entry.route for entry in top]


def test_equal_counts_are_ranked_by_the_freshest_trip() -> None:
    """Of two equals the one with the later trip is first."""
    ranking = PartialRanking()
    entries = (RouteCount("old", 2, 5), RouteCount("new", 2, 9), RouteCount("more", 3, 1))
    assert updated(ranking, *entries) == ["more", "new", "old"]
    assert updated(ranking) is None


def test_a_route_that_others_leave_behind_comes_back_without_a_fresh_trip() -> None:
    """The whole share is kept, so no rank goes stale when leaders fall."""
    ranking = PartialRanking()
    assert updated(ranking, *(RouteCount(f"r{index}", 5, index + 10) for index in range(11))) is not None
    assert updated(ranking, RouteCount("quiet", 2, 1)) is None
    top = updated(ranking, *(RouteCount(f"r{index}", 0, 0) for index in range(5)))
    assert top is not None
    assert top[-1] == "quiet"
    assert len(ranking) == 7


def test_the_last_reported_rank_is_sent_too() -> None:
    """When it falls, the next one takes its place."""
    ranking = PartialRanking()
    updated(ranking, *(RouteCount(f"r{index}", 5, 20 - index) for index in range(12)))
    top = updated(ranking, RouteCount("r10", 0, 0))
    assert top is not None
    assert top[-1] == "r11"


def test_a_share_that_empties_reports_it() -> None:
    """An empty top is a change too."""
    ranking = PartialRanking()
    assert updated(ranking, RouteCount("a", 1, 1)) == ["a"]
    assert updated(ranking, RouteCount("a", 0, 0)) == []


def test_only_routes_and_their_order_make_a_change() -> None:
    """A new count in the same order is no change; another order is."""
    ranking = route_merge()
    assert ranking.update({0: [RouteCount("a", 2, 2), RouteCount("b", 1, 1)]})
    assert not ranking.update({0: [RouteCount("a", 3, 3), RouteCount("b", 1, 1)]})
    assert ranking.update({0: [RouteCount("b", 4, 5), RouteCount("a", 3, 3)]})
    assert [each.route for each in ranking.best] == ["b", "a"]


def test_a_change_at_the_eleventh_rank_is_none() -> None:
    """The query asks for ten; the eleventh is only reported."""
    ten = [RouteCount(f"r{index}", 9, 20 - index) for index in range(10)]
    ranking = route_merge()
    assert ranking.update({0: [*ten, RouteCount("x", 1, 1)]})
    assert not ranking.update({0: [*ten, RouteCount("y", 1, 2)]})
    assert ranking.best[10].route == "y"


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.integers(0, 3)), max_size=80),
    st.integers(1, 4),
)
def test_shares_merge_to_the_ranking_of_all(updates: list[tuple[str, int]], shares: int) -> None:
    """However routes are spread, the merged top is the plain sort of all routes."""
    partial = [PartialRanking() for _ in range(shares)]
    merged = route_merge()
    current: dict[str, RouteCount] = {}
    for number, (route, count) in enumerate(updates, start=1):
        current[route] = RouteCount(route, count, number)
        share = ord(route) % shares
        partial[share].update(*current[route])
        top = partial[share].changed_top()
        if top is not None:
            merged.update({share: top})
    alive = [entry for entry in current.values() if entry.count]
    assert merged.best == sorted(alive, key=lambda entry: (-entry.count, -entry.freshest))[:11]
