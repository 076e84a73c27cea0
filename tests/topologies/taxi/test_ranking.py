"""Ranks: count first, then freshness; changes of the answer only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topologies.taxi.packing import pack, unpack
from topologies.taxi.ranking import GlobalRanking, PartialRanking
from topologies.taxi.window import RouteCount


def test_equal_counts_are_ranked_by_the_freshest_trip() -> None:
    """Of two equals the one with the later trip is first."""
    ranking = PartialRanking()
    ranking.update([RouteCount("old", 2, 5), RouteCount("new", 2, 9), RouteCount("more", 3, 1)])
    assert [entry.route for entry in ranking.top()] == ["more", "new", "old"]


def test_a_route_that_others_leave_behind_comes_back_without_a_fresh_trip() -> None:
    """The whole share is kept, so no rank goes stale when leaders fall."""
    ranking = PartialRanking()
    ranking.update([RouteCount(f"r{index}", 5, index + 10) for index in range(11)])
    ranking.update([RouteCount("quiet", 2, 1)])
    assert "quiet" not in [entry.route for entry in ranking.top()]
    ranking.update([RouteCount(f"r{index}", 0, 0) for index in range(5)])
    assert ranking.top()[-1] == RouteCount("quiet", 2, 1)
    assert len(ranking) == 7


def test_only_routes_and_their_order_make_a_change() -> None:
    """A new count in the same order is no change; another order is."""
    ranking = GlobalRanking()
    assert ranking.update({0: [RouteCount("a", 2, 2), RouteCount("b", 1, 1)]})
    assert not ranking.update({0: [RouteCount("a", 3, 3), RouteCount("b", 1, 1)]})
    assert ranking.update({0: [RouteCount("b", 4, 5), RouteCount("a", 3, 3)]})
    assert ranking.answer == ("b", "a")


def test_a_change_at_the_eleventh_rank_is_none() -> None:
    """The query asks for ten; the eleventh is only reported."""
    ten = [RouteCount(f"r{index}", 9, 20 - index) for index in range(10)]
    ranking = GlobalRanking()
    assert ranking.update({0: [*ten, RouteCount("x", 1, 1)]})
    assert not ranking.update({0: [*ten, RouteCount("y", 1, 2)]})
    assert ranking.top()[10].route == "y"


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.integers(0, 3)), max_size=80),
    st.integers(1, 4),
)
def test_shares_merge_to_the_ranking_of_all(updates: list[tuple[str, int]], shares: int) -> None:
    """However routes are spread, the merged top is the plain sort of all routes."""
    partial = [PartialRanking() for _ in range(shares)]
    merged = GlobalRanking()
    current: dict[str, RouteCount] = {}
    for number, (route, count) in enumerate(updates, start=1):
        current[route] = RouteCount(route, count, number)
        share = ord(route) % shares
        partial[share].update([current[route]])
        merged.update({share: partial[share].top()})
    alive = [entry for entry in current.values() if entry.count]
    assert merged.top() == sorted(alive, key=lambda entry: (-entry.count, -entry.freshest))[:11]


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(0, 99)), max_size=12))
def test_packing_loses_nothing(pairs: list[tuple[int, int]]) -> None:
    """What was packed is unpacked, also nothing."""
    entries = [RouteCount(f"{count}.1-2.{freshest}", count, freshest) for count, freshest in pairs]
    assert unpack(pack(entries)) == entries
