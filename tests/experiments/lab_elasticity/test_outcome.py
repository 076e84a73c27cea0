"""What came of a turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.lab_elasticity.kept import Items, Look
from experiments.lab_elasticity.outcome import Outcome, Raw, longest_lull_s, outcome
from tests.experiments.lab_elasticity.made import START_S, Made, lease, made_done, made_items, made_looks


def _outcome(made: Made, policy: str = "sized") -> Outcome:
    looks = [Look.model_validate(each) for each in made_looks()]
    changes = [(START_S + each, 24.0) for each in made.changed_s]
    items = Items.model_validate(made_items(made))
    return outcome(Raw(made_done(policy, made), items, looks, made.leases, changes))


def test_response_times_are_those_of_items_after_the_warm_up() -> None:
    # numbers 0 to 9 are the warm-up's
    found = _outcome(Made(response_s={3: 100.0, 10: 3.0}))
    assert found.items == 240
    assert found.mean_s == pytest.approx((239 * 1.0 + 3.0) / 240)
    assert found.p50_s == pytest.approx(1.0)
    assert (found.lost, found.twice, found.late) == (0, 0, 0.0)


def test_a_lost_item_is_lost_also_in_the_warm_up_and_late_only_after_it() -> None:
    found = _outcome(Made(response_s={3: None, 20: None, 21: 10.5}))
    assert found.lost == 2
    assert found.late == pytest.approx(2 / 240)


def test_an_item_that_comes_again_counts_once() -> None:
    found = _outcome(Made(twice=(30, 31)))
    assert found.twice == 2
    assert found.mean_s == pytest.approx(1.0)
    assert sum(each.result_rate * 10 for each in found.windows) == pytest.approx(240)


def test_hosts_cost_from_when_they_are_ready_and_units_are_paid_whole() -> None:
    made = Made(
        leases=(
            lease(1, 60.0, 180.0),
            # not ended by the end: two units have begun
            lease(2, 100.0, 400.0),
            # gone before the start, and after the end: not part of what is measured
            lease(3, -300.0, -100.0),
            lease(4, None),
            lease(5, 300.0),
        )
    )
    found = _outcome(made)
    assert found.host_s == pytest.approx(2 * 240 + 120 + 140)
    assert found.static_host_s == pytest.approx(5 * 240)
    assert found.host_share == pytest.approx(740 / 1200)
    assert found.units == 2 * 2 + 1 + 2
    assert found.static_units == 10
    assert (found.leases, found.hosts_most) == (2, 4)
    assert [each.hosts for each in found.windows][9:12] == [3.0, 4.0, 4.0]


def test_a_pause_is_the_longest_lull_of_results_after_a_change() -> None:
    # items due in seconds 100 to 119 come together at 120
    held = {110 + k: 20.0 - k for k in range(20)}
    found = _outcome(Made(response_s=held, changed_s=(-5.0, 50.0, 101.0)))
    assert [each.at_s for each in found.changes] == pytest.approx([50.0, 101.0])
    # the last result before came at 100, of the item of 99
    assert found.changes[0].pause_s == pytest.approx(0.5, abs=0.1)
    assert found.changes[1].pause_s == pytest.approx(19.0, abs=1.0)
    assert found.longest_pause_s == found.changes[1].pause_s
    assert found.changes[0].error == pytest.approx(23.0), "what is shorter than a second is not seen"
    assert found.changes[1].error == pytest.approx(0.29, abs=0.05)


def test_windows_show_the_turn_over_time() -> None:
    found = _outcome(Made(response_s=dict.fromkeys(range(10, 20))))
    assert len(found.windows) == 24
    assert math.isnan(found.windows[0].mean_s)
    second = found.windows[1]
    assert (second.rate, second.mean_s, second.executors["parse"]) == (1.0, 1.0, 3)
    assert second.waiting == 15
    assert found.windows[-1].executors["parse"] == 5


def test_a_turn_without_changes_has_no_pause() -> None:
    assert _outcome(Made(), "static").longest_pause_s == 0.0


def test_where_few_results_come_it_is_a_lull_too() -> None:
    """Ten items a second are due: for six seconds three come, then all that has piled up; it is noticed."""
    due_s = np.arange(0.0, 60.0, 0.1)
    slow = (due_s >= 20.0) & (due_s < 26.0)
    some = slow & (np.arange(len(due_s)) % 10 < 3)
    came_s = np.where(slow & ~some, 27.0, due_s + 0.05)
    assert longest_lull_s(due_s, came_s, 10.0, 50.0) == pytest.approx(6.0, abs=0.5)
    half = np.where(slow & (np.arange(len(due_s)) % 10 >= 6), 27.0, due_s + 0.05)
    assert longest_lull_s(due_s, half, 10.0, 50.0) == 0.0, "more than half come"
    assert longest_lull_s(due_s, came_s, 30.0, 50.0) == 0.0
