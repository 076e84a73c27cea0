from __future__ import annotations

import numpy as np

from benchmarks.large_placement import CASES, Case, make_parts, measure

TINY = Case("tiny", 12, 30, 8, True, ("greedy",))


def test_a_case_is_the_same_every_time() -> None:
    """Seeds are fixed, and streams join neighbouring components only, so they form no cycle."""
    one, other = make_parts(TINY), make_parts(TINY)

    assert one[:3] == other[:3]
    assert np.array_equal(one[3], other[3])
    assert all(int(s.source.split("-")[1]) < int(s.target.split("-")[1]) for s in one[1])


def test_every_case_has_room_for_its_executors() -> None:
    """Four slots per node, two of them for the pinned ends."""
    assert all(case.executors <= 4 * case.nodes for case in CASES)


def test_a_run_states_time_memory_and_worth() -> None:
    """One row holds what the table of results shows."""
    row = measure(TINY, "greedy", 1.0)

    assert (row["name"], row["strategy"], row["executors"]) == ("tiny", "greedy", 12)
    for key in (
        "construct_s",
        "first_answer_s",
        "solve_s",
        "peak_resident_mb",
        "objective",
        "response_time_ms",
    ):
        assert float(str(row[key])) >= 0.0
