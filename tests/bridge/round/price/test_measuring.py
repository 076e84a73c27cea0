"""Plans are measured: when their workers run again, and what that brought; later prices learn from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.round.memory import NOTHING, Memory, Start, memory_from_json
from bridge.round.price.measuring import IDLE_S, LONGEST_S, SETTLED_S
from tests.bridge.conftest import assigned, cluster
from tests.bridge.round.planner_rounds import GOOD
from tests.bridge.round.price.priced_rounds import NEAR, Rounds, acking, moving, rates

T = 1_700_000_000.0
ALL = [1, 2, 3, 4, 5]


def started(unix_s, *starts, worked=None, ready=None, age_s=5.0, **fields):
    """Rates that were read some seconds before, and say when which executors began, worked and were ready."""
    collector_s = unix_s - age_s - 4711.0  # its clock goes wrong
    for key, moments in (("started", starts), ("worked", worked), ("ready", ready)):
        if moments is not None:
            fields[key] = [[round(moment - 4711.0), tasks] for moment, tasks in moments]
    return rates(age_ms=int(age_s * 1000), time=collector_s, **fields)


def moved(**sections):
    """Rounds of which the first has moved four executors, so that all five workers start."""
    rounds = Rounds(moving(), **sections)
    rounds.at(T, rates(complete_ms=600.0))
    return rounds


def pauses(rounds):
    """What is remembered of how long workers took to run."""
    return tuple(each.pause_s for each in rounds.memory.starts)


def learned(rounds):
    """What is remembered of how long they took to work."""
    return tuple(each.works_s for each in rounds.memory.starts)


def test_the_pause_lasts_from_the_plan_to_the_first_work_of_its_last_executor():
    """Not to the start of its worker, which is measured too; rates settle from then on."""
    rounds = moved()
    seen = [(T + 9, [1, 2, 3]), (T + 14, [4, 5])]
    working = [(T + 25, [1, 2]), (T + 35, [3]), (T + 40, [4]), (T + 30, [5])]
    now_s = T + 40 + SETTLED_S - 2
    assert rounds.at(now_s, started(now_s, *seen, worked=working)).measured == ()
    (found,) = rounds.at(now_s + 3, started(now_s + 3, *seen, worked=working)).measured
    assert found.measured_pause_s == pytest.approx(40.0, abs=0.6)
    assert found.workers_ran_s == pytest.approx(14.0, abs=0.6)
    assert found.pause_until == "work"
    assert rounds.memory.to_measure == ()


def test_what_is_not_seen_to_work_is_waited_for_and_counts_by_its_start_then():
    """It has nothing to do: a pause that others end does not last any longer for it."""
    rounds = moved()
    seen, working = [(T + 9, [1, 2, 3]), (T + 14, [4, 5])], [(T + 20, [1, 2])]
    for now_s in (T + 20 + SETTLED_S, T + 14 + IDLE_S - 1):
        assert rounds.at(now_s, started(now_s, *seen, worked=working)).measured == ()
    now_s = T + 14 + IDLE_S + 1
    (found,) = rounds.at(now_s, started(now_s, *seen, worked=working)).measured
    assert found.measured_pause_s == pytest.approx(20.0, abs=0.6)
    assert found.pause_until == "work"


@pytest.mark.parametrize(("worked", "after_s"), [(None, SETTLED_S), ([], IDLE_S)])
def test_where_nothing_is_seen_to_work_the_pause_is_until_workers_run(worked, after_s):
    """By a collector of before at once; nothing is learned of work then."""
    rounds = moved()
    now_s = T + 14 + after_s + 1
    (found,) = rounds.at(now_s, started(now_s, (T + 9, [1, 2, 3]), (T + 14, [4, 5]), worked=worked)).measured
    assert found.measured_pause_s == found.workers_ran_s == pytest.approx(14.0, abs=0.6)
    assert found.pause_until == "start"
    assert set(learned(rounds)) == {None}


def test_a_worker_that_ran_early_counts_as_soon_as_it_was_ready():
    """It waited for what the last one of its plan sends, and will not when it restarts alone."""
    rounds = moved()
    seen = [(T + 4, [1, 2]), (T + 28, [3, 4]), (T + 27, [5])]
    working = [(T + 46, [1, 2]), (T + 45, [3, 4]), (T + 47, [5])]
    now_s = T + 60 + SETTLED_S
    rounds.at(now_s, started(now_s, *seen, worked=working, ready=[(T + 6, [1, 2]), (T + 30, [3])]))
    assert [each.task for each in moved().memory.to_measure[0].starts] == [1, 3, 5]
    assert learned(rounds) == pytest.approx((6.0, 45.0, 47.0), abs=0.6)


@pytest.mark.parametrize(
    ("worked_s", "ready_s", "learned_s"), [(85, 12, 12.0), (16, None, 16.0), (None, 12, 12.0)]
)
def test_of_first_placements_it_is_learned_when_workers_were_ready(worked_s, ready_s, learned_s):
    """Data may come later, or never; what had some at once was ready when it worked."""
    rounds = Rounds(cluster(acking()))
    rounds.at(T)
    now_s = T + 90 + IDLE_S
    worked = [] if worked_s is None else [(T + worked_s, ALL)]
    ready = None if ready_s is None else [(T + ready_s, ALL)]
    rounds.at(now_s, started(now_s, (T + 10, ALL), worked=worked, ready=ready))
    assert learned(rounds) == pytest.approx((learned_s,) * 3, abs=0.6)


def test_without_a_word_of_work_the_pause_lasts_to_the_start_of_the_last_worker():
    """Whatever the collector's clock says; all executors that began since count as restarted."""
    rounds = moved()
    (awaited,) = rounds.memory.to_measure
    predicted = awaited.response_time_ms
    assert rounds.at(T + 60, started(T + 60, (T + 9, [1, 2, 3]), (T + 14, [4, 5]))).measured == ()
    now_s = T + 14 + SETTLED_S
    done = rounds.at(now_s, started(now_s, (T + 9, [1, 2, 3]), (T + 14, [4, 5]), complete_ms=45.0))
    (found,) = done.measured
    assert found.measured_pause_s == pytest.approx(14.0, abs=0.6)
    assert (found.pause_s, found.why_not) == (20.0, "")
    assert (found.executors, found.measured_executors, found.workers) == (5, 5, 5)
    assert found.complete_ms == (600.0, 45.0)
    assert found.response_time_ms[:2] == predicted
    assert found.response_time_ms[2] == done.response.plans[0].response_time_ms
    assert rounds.memory.to_measure == ()
    assert rounds.at(now_s + 10).measured == ()


def test_later_prices_learn_from_it():
    """Each worker is a sample, by whether its host ran the topology before, of three of them on."""
    rounds = moved()
    now_s = T + 21 + SETTLED_S
    rounds.at(now_s, started(now_s, (T + 9, [1, 2, 3]), (T + 14, [4, 5]), worked=[(T + 21, ALL)]))
    assert [(each.site, each.first) for each in rounds.memory.starts] == [
        ("uniroma2", False),
        ("uniroma2", True),
        ("uniroma2", True),
    ]
    assert pauses(rounds) == pytest.approx((9.0, 9.0, 14.0), abs=0.6)
    for since_s in (1000, 2000):
        rounds.request = moving()
        now_s = T + since_s
        price = rounds.at(now_s).response.plans[0].price
        rounds.at(now_s + 200, started(now_s + 200, (now_s + 14, ALL), worked=[(now_s + 21, ALL)]))
    assert (price.pause_source, price.pause_samples) == ("first starts at uniroma2", 4)
    assert price.pause_s == pytest.approx(21.0, abs=0.6)


def test_a_worker_that_still_runs_as_before_is_waited_for():
    """Its start lies before the plan, or the rates do not name it."""
    rounds = moved()
    for now_s, first in ((T + 200, T - 300), (T + 300, None)):
        starts = [(T + 9, [2, 3, 4, 5]), *([(first, [1])] if first else [])]
        assert rounds.at(now_s, started(now_s, *starts)).measured == ()
    assert len(rounds.memory.to_measure) == 1
    assert rounds.memory.starts == ()


def test_an_executor_that_is_not_seen_to_work_is_waited_for_beside_others_of_its_worker():
    """Its own first tuple comes later than theirs."""
    rounds = moved()
    starts = [(T + 14, ALL)]
    now_s = T + 25 + SETTLED_S + 1
    rounds.at(now_s, started(now_s, *starts, worked=[(T + 25, [1, 2, 4, 5])]))
    assert len(rounds.memory.to_measure) == 1
    later_s = T + 90 + SETTLED_S + 1
    (found,) = rounds.at(
        later_s, started(later_s, *starts, worked=[(T + 25, [1, 2, 4, 5]), (T + 90, [3])])
    ).measured
    assert found.measured_pause_s == pytest.approx(90.0, abs=0.6)


def test_workers_that_start_again_and_again_are_given_up():
    """A pause of an hour would be learned otherwise."""
    rounds = moved()
    now_s = T + LONGEST_S + 200
    (found,) = rounds.at(
        now_s, started(now_s, (T + LONGEST_S + 60, ALL), worked=[(T + LONGEST_S + 70, ALL)])
    ).measured
    assert found.why_not == "the last start of its workers came after more than 10 minutes"
    assert (found.measured_pause_s, rounds.memory.starts) == (None, ())


@pytest.mark.parametrize(
    ("change", "after_s", "reason"),
    [
        ("nothing", LONGEST_S + 1, "the rates name no start of all its workers within 10 minutes"),
        ("killed", 30, "the topology is gone"),
        ("elsewhere", 30, "its workers are not, or not any more, where the plan put them"),
        ("clock", -5, "the daemon's clock was set back"),
    ],
)
def test_what_cannot_be_measured_is_given_up_with_the_reason(change, after_s, reason):
    """Nothing is learned from it."""
    rounds = moved()
    if change == "killed":
        rounds.request = replace(rounds.request, topologies=())
    elif change == "elsewhere":
        rounds.request = cluster(assigned(acking(), [0, 0, 1, 2, 2], 6700))
    (found,) = rounds.at(T + after_s, rates()).measured
    assert (found.why_not, found.measured_pause_s, found.measured_executors) == (reason, None, None)
    assert (rounds.memory.to_measure, rounds.memory.starts) == ((), ())


def test_a_worker_that_gets_other_executors_is_none_of_the_plan_any_more():
    """Also if the one whose start is awaited stays where it is."""
    rounds = moved()
    (topology,) = rounds.request.topologies
    assert [each.task for each in rounds.memory.to_measure[0].starts] == [1, 3, 5]
    assert topology.executor_supervisor[0] == topology.executor_supervisor[1]
    left = list(topology.executor_port)
    left[1] = max(left) + 1
    rounds.request = replace(
        rounds.request, topologies=(assigned(topology, topology.executor_supervisor, left),)
    )
    (found,) = rounds.at(T + 30, rates()).measured
    assert found.why_not.startswith("its workers are not, ")


def test_first_starts_are_samples_until_there_are_restarts():
    """They are no moves, so that nothing is said of them; what is lost counts among them."""
    rounds = Rounds(cluster(acking()))
    rounds.at(T)
    (awaited,) = rounds.memory.to_measure
    assert (awaited.executors, len(awaited.starts)) == (0, 3)
    now_s = T + 30 + SETTLED_S
    assert rounds.at(now_s, started(now_s, (T + 25, ALL))).measured == ()
    assert pauses(rounds) == pytest.approx((25.0,) * 3, abs=0.6)
    rounds.request = moving()
    source = rounds.at(now_s + 500).response.plans[0].price.pause_source
    assert source == "first starts at uniroma2, until they run"


def test_a_round_that_changes_nothing_awaits_nothing(make):
    """Nor does one without a clock."""
    rounds = Rounds(make.cluster(make.assigned(make.taxi(), GOOD)))
    rounds.at(T)
    assert rounds.memory.to_measure == ()
    rounds.request = cluster(acking(NEAR))
    assert rounds.at(T).memory.to_measure == ()


def test_of_many_first_placements_few_are_awaited(make):
    """They all say the same; a move among them is."""
    topologies = [make.chain(f"c{number}", (1,), []) for number in range(40)]
    request = moving()
    many = tuple(range(6700, 6750))
    roomy = tuple(replace(each, ports=many, meta={"stormplace.site": "s"}) for each in request.supervisors)
    pinless = replace(acking([0, 5, 3, 6, 4]), settings_json="{}")
    rounds = Rounds(replace(request, supervisors=roomy, topologies=(pinless, *topologies)))
    rounds.at(T)
    kinds = [each.executors > 0 for each in rounds.memory.to_measure]
    assert (kinds.count(True), kinds.count(False)) == (1, 16)


def test_a_memory_with_what_is_awaited_is_read_back_from_a_record():
    """And one of before there were measurements has none."""
    memory = moved().memory
    assert memory.to_measure
    assert memory_from_json(memory.to_json()) == memory
    assert memory_from_json('{"topologies": []}') == Memory()
    older = '{"topologies": [], "starts": [{"pause_s": 3.0, "site": null, "first": false}]}'
    starts = (Start(3.0, None, False),)
    assert memory_from_json(older).starts == starts
    assert NOTHING.starts_only == NOTHING
    assert replace(memory, starts=starts).starts_only == Memory(measured=False, starts=starts)
