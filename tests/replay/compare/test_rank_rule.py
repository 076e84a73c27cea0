"""When two states of either query count as equal."""

from __future__ import annotations

import pytest

from replay.compare.rank_rule import (
    AREAS,
    ROUTES,
    Rank,
    area_rank,
    difference,
    parse_areas,
    parse_routes,
    route_rank,
)

FULL = [("a", 5), ("b", 4), *[(name, 3) for name in "cdefgh"], *[(name, 2) for name in "ijk"]]
Counts = list[tuple[str, int]]
TIED = ["i", "j", "k", "l", "m"]  # l and m also have 2 trips, but rank behind


def route_difference(expected: Counts, tied: list[str], got: Counts, *, free_ties: bool = True) -> str | None:
    ranks, found = ([route_rank(*each) for each in state] for state in (expected, got))
    return difference(ROUTES, ranks, found, free_ties=free_ties, tied=tied)


def swapped(state: Counts, first: int, second: int) -> Counts:
    state = list(state)
    state[first], state[second] = state[second], state[first]
    return state


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        pytest.param(FULL, None, id="the same"),
        pytest.param(swapped(FULL, 3, 6), None, id="another order within a tie"),
        pytest.param([*FULL[:9], ("m", 2), ("l", 2)], None, id="other routes of rank 11's count"),
        pytest.param(swapped(FULL, 1, 2), "rank 2 has count 3 instead of 4", id="a lower count ranks higher"),
        pytest.param(
            [("x", 5), *FULL[1:]], "route x is given 5 trips, it belongs", id="unknown route on top"
        ),
        pytest.param(
            [*FULL[:10], ("x", 2)], "route x is given 2 trips, it belongs", id="unknown route in the tie"
        ),
        pytest.param(
            [*FULL[:2], ("i", 3), *FULL[3:]], "route i is given 3 trips, it has 2", id="wrong count"
        ),
        pytest.param([*FULL[:10], ("i", 2)], "route i holds two ranks", id="twice the same"),
        pytest.param(FULL[:10], "11 ranks expected, 10 found", id="too short"),
        pytest.param([*FULL[:10], ("k", 1)], "rank 11 has count 1 instead of 2", id="count of the last rank"),
    ],
)
def test_a_full_state_of_routes(got: Counts, reason: str | None) -> None:
    found = route_difference(FULL, TIED, got)

    assert (found is None) == (reason is None)
    assert reason is None or (found is not None and found.startswith(reason))


def test_with_fewer_than_eleven_routes_every_route_must_be_there() -> None:
    assert route_difference([("a", 1), ("b", 1)], [], [("b", 1), ("a", 1)]) is None
    assert route_difference([("a", 1), ("b", 1)], [], [("b", 1), ("c", 1)]) is not None
    assert route_difference([], [], []) is None


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (FULL, None),
        (swapped(FULL, 3, 6), "rank 4 is route g instead of d"),
        (swapped(FULL, 1, 2), "rank 2 has count 3 instead of 4"),
        (FULL[:10], "11 ranks expected, 10 found"),
    ],
)
def test_strictly_the_order_within_ties_counts(got: Counts, reason: str | None) -> None:
    assert route_difference(FULL, [], got, free_ties=False) == reason


AREA_RANKS = [
    *(area_rank(f"1.{k}", 1, 20.0 - k, 20.0 - k) for k in range(1, 9)),
    area_rank("2.1", 2, 6.0, 3.0),
    area_rank("2.2", 1, 3.0, 3.0),
    area_rank("2.3", 1, 3.0, 3.0),
    area_rank("2.4", 3, 9.0, 3.0),  # behind rank 11, but level with it
]


def swapped_areas(first: int, second: int) -> list[Rank]:
    state = AREA_RANKS[:11]
    state[first], state[second] = state[second], state[first]
    return state


@pytest.mark.parametrize(
    ("got", "strict", "free"),
    [
        pytest.param(AREA_RANKS[:11], None, None, id="eleven ranks"),
        pytest.param(AREA_RANKS[:10], None, None, id="ten ranks"),
        pytest.param(
            swapped_areas(8, 9), "rank 9 is area 2.2 instead of 2.1", None, id="another order of a tie"
        ),
        pytest.param(
            [*AREA_RANKS[:9], AREA_RANKS[11]],
            "rank 10 is area 2.4 instead",
            None,
            id="another of the last tie",
        ),
        pytest.param(
            swapped_areas(0, 1), "rank 1 has profitability 18.0", "rank 1 has profitability 18.0", id="order"
        ),
        pytest.param(
            AREA_RANKS[:9], "11 ranks expected, 9 found", "11 ranks expected, 9 found", id="too few"
        ),
        pytest.param(AREA_RANKS, "11 ranks expected, 12 found", "11 ranks expected, 12 found", id="too many"),
        pytest.param(
            [area_rank("1.1", 2, 38.0, 19.0), *AREA_RANKS[1:10]],
            "area 1.1 is given 38.000/2 = 19.000000, it has 19.000/1 = 19.000000",
            "area 1.1 is given 38.000/2 = 19.000000, it has 19.000/1 = 19.000000",
            id="other values",
        ),
        pytest.param(
            [*AREA_RANKS[:9], AREA_RANKS[8]],
            "rank 10 is area 2.1 instead of 2.2",
            "area 2.1 holds two ranks",
            id="doubled",
        ),
        pytest.param(
            [*AREA_RANKS[:9], area_rank("9.9", 1, 3.0, 3.0)],
            "rank 10 is area 9.9 instead of 2.2",
            "area 9.9 is given 3.000/1 = 3.000000, it belongs",
            id="unknown",
        ),
    ],
)
def test_a_full_state_of_areas(got: list[Rank], strict: str | None, free: str | None) -> None:
    for free_ties, reason in ((False, strict), (True, free)):
        found = difference(AREAS, AREA_RANKS, got, free_ties=free_ties)
        assert (found is None) == (reason is None)
        assert reason is None or (found is not None and found.startswith(reason))


def test_amounts_may_be_numbers_or_texts() -> None:
    assert parse_areas([["1.1", 3, "9.505", "3.168333"]]) == parse_areas([["1.1", 3, 9.505, 3.168333]])
    assert parse_areas([]) == []


@pytest.mark.parametrize(
    "value", [{}, [["1.1", 3, 1.0]], [["1.1", True, 1, 1]], [["1.1", 1, "x", 1]], [[1, 1, 1, 1]]]
)
def test_what_is_no_state_of_areas_is_seen(value: object) -> None:
    assert parse_areas(value) is None


@pytest.mark.parametrize("value", [{}, [["a"]], [["a", True]], [["a", "1"]], [[1, 1]], ["a1"]])
def test_what_is_no_state_of_routes_is_seen(value: object) -> None:
    assert parse_routes(value) is None
