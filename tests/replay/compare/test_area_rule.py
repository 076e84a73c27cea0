"""When two states of query 2 count as equal."""

from __future__ import annotations

import pytest

from replay.compare.area_rule import AreaRank, area_rank, difference, parse

FULL = [
    *(area_rank(f"1.{k}", 1, 20.0 - k, 20.0 - k) for k in range(1, 9)),
    area_rank("2.1", 2, 6.0, 3.0),
    area_rank("2.2", 1, 3.0, 3.0),
    area_rank("2.3", 1, 3.0, 3.0),
    area_rank("2.4", 3, 9.0, 3.0),  # behind rank 11, but level with it
]


def swapped(first: int, second: int) -> list[AreaRank]:
    state = FULL[:11]
    state[first], state[second] = state[second], state[first]
    return state


@pytest.mark.parametrize(
    ("got", "strict", "free"),
    [
        pytest.param(FULL[:11], None, None, id="eleven ranks"),
        pytest.param(FULL[:10], None, None, id="ten ranks"),
        pytest.param(swapped(8, 9), "rank 9 is area 2.2 instead of 2.1", None, id="another order of a tie"),
        pytest.param(
            [*FULL[:9], FULL[11]], "rank 10 is area 2.4 instead", None, id="another of the last tie"
        ),
        pytest.param(
            swapped(0, 1), "rank 1 has profitability 18.0", "rank 1 has profitability 18.0", id="order"
        ),
        pytest.param(FULL[:9], "11 ranks expected, 9 found", "11 ranks expected, 9 found", id="too few"),
        pytest.param(FULL, "11 ranks expected, 12 found", "11 ranks expected, 12 found", id="too many"),
        pytest.param(
            [area_rank("1.1", 2, 38.0, 19.0), *FULL[1:10]],
            "area 1.1 is given 38.000/2 = 19.000000, it has 19.000/1 = 19.000000",
            "area 1.1 is given 38.000/2 = 19.000000, it has 19.000/1 = 19.000000",
            id="other values",
        ),
        pytest.param(
            [*FULL[:9], FULL[8]],
            "rank 10 is area 2.1 instead of 2.2",
            "area 2.1 holds two ranks",
            id="doubled",
        ),
        pytest.param(
            [*FULL[:9], area_rank("9.9", 1, 3.0, 3.0)],
            "rank 10 is area 9.9 instead of 2.2",
            "area 9.9 is given 3.000/1 = 3.000000, it belongs",
            id="unknown",
        ),
    ],
)
def test_a_full_state(got: list[AreaRank], strict: str | None, free: str | None) -> None:
    for free_ties, reason in ((False, strict), (True, free)):
        found = difference(FULL, got, free_ties=free_ties)
        assert (found is None) == (reason is None)
        assert reason is None or (found is not None and found.startswith(reason))


def test_amounts_may_be_numbers_or_texts() -> None:
    assert parse([["1.1", 3, "9.505", "3.168333"]]) == parse([["1.1", 3, 9.505, 3.168333]])
    assert parse([]) == []


@pytest.mark.parametrize(
    "value", [{}, [["1.1", 3, 1.0]], [["1.1", True, 1, 1]], [["1.1", 1, "x", 1]], [[1, 1, 1, 1]]]
)
def test_what_is_no_state_is_seen(value: object) -> None:
    assert parse(value) is None
