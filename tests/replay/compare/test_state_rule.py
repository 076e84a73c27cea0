"""When two states count as equal."""

from __future__ import annotations

import pytest

from replay.compare.state_rule import difference, strict_difference

FULL = [("a", 5), ("b", 4), *[(name, 3) for name in "cdefgh"], *[(name, 2) for name in "ijk"]]
TIED = ["i", "j", "k", "l", "m"]  # l and m also have 2 trips, but rank behind


def swapped(state: list[tuple[str, int]], first: int, second: int) -> list[tuple[str, int]]:
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
def test_a_full_state(got: list[tuple[str, int]], reason: str | None) -> None:
    found = difference(FULL, TIED, got)

    assert (found is None) == (reason is None)
    assert reason is None or (found is not None and found.startswith(reason))


def test_with_fewer_than_eleven_routes_every_route_must_be_there() -> None:
    assert difference([("a", 1), ("b", 1)], [], [("b", 1), ("a", 1)]) is None
    assert difference([("a", 1), ("b", 1)], [], [("b", 1), ("c", 1)]) is not None
    assert difference([], [], []) is None


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (FULL, None),
        (swapped(FULL, 3, 6), "rank 4 is route g instead of d"),
        (swapped(FULL, 1, 2), "rank 2 has count 3 instead of 4"),
        (FULL[:10], "11 ranks expected, 10 found"),
    ],
)
def test_strictly_the_order_within_ties_counts(got: list[tuple[str, int]], reason: str | None) -> None:
    assert strict_difference(FULL, got) == reason
