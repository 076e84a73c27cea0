"""What is known of components: demand that no bottleneck hides, queues, and how long an item takes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from formats.script_key import script_key
from provisioning.cluster.look import RunningExecutor, Source, StormComponent, TopologyLook
from provisioning.measuring.component_readings import Given, TopologyMemory, component_readings
from provisioning.measuring.lag import AtSource
from provisioning.measuring.source_history import SourceSaid
from provisioning.measuring.task_meters import TaskReadings

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.observation import ComponentReading

NOW_S = 1000.0


def component(name: str, *inputs: str, shell: bool = False) -> StormComponent:
    sources = tuple(Source(each, "default") for each in inputs)
    return StormComponent(name, 4, sources, shell=shell, cpu=10.0, memory_mb=128.0)


def chain(*, other_process: bool = False) -> TopologyLook:
    """A spout with task 1, `parse` with two executors of two tasks each, `count` with one of four."""
    components = {
        "spout": component("spout"),
        "parse": component("parse", "spout", shell=other_process),
        "count": component("count", "parse"),
    }
    executors = (
        RunningExecutor("spout", 1, 1, "a", 6700),
        RunningExecutor("parse", 2, 3, "a", 6700),
        RunningExecutor("parse", 4, 5, "b", 6700),
        RunningExecutor("count", 6, 9, "b", 6700),
    )
    return TopologyLook("chain", "chain-1-1795843981", "ACTIVE", components, executors)


def said(
    *, emits: float = 100.0, parses: float = 100.0, hands_on: float = 0.5, waits: float = 0.0
) -> TaskReadings:
    """Workers have run for 1,000 s; `parse` takes 8 ms for an item, `count` takes 2."""
    rates = {(1, "__emit-count-default"): emits}
    for task in (2, 3, 4, 5):
        rates[task, "__execute-count-spout:default"] = parses / 4.0
        rates[task, "__emit-count-default"] = parses / 4.0 * hands_on
    for task in (6, 7, 8, 9):
        rates[task, "__execute-count-parse:default"] = parses * hands_on / 4.0
    values = {key: 1000.0 * rate for key, rate in rates.items()}
    values |= {(task, "__execute-latency-spout:default"): 8.0 for task in (2, 3, 4, 5)}
    values |= {(task, "__execute-latency-parse:default"): 2.0 for task in (6, 7, 8, 9)}
    # both tasks of an executor report its queue
    values |= {(task, "receive-queue-population"): waits / 2.0 for task in (2, 3, 4, 5)}
    spoke_s = dict.fromkeys(range(1, 10), (NOW_S - 20.0, NOW_S - 2.0))
    return TaskReadings(rates, values, spoke_s)


def read(
    tasks: TaskReadings, topology: TopologyLook | None = None, given: Given | None = None
) -> dict[str, ComponentReading]:
    readings, _ = component_readings(topology or chain(), tasks, TopologyMemory(), given or Given(NOW_S))
    return {each.component: each for each in readings}


def test_a_chain_that_keeps_up() -> None:
    found = read(said())
    assert found["parse"].demand_per_s == pytest.approx(100.0)
    assert found["count"].demand_per_s == pytest.approx(50.0)
    assert found["parse"].service_ms == pytest.approx(8.0)
    assert found["count"].service_ms == pytest.approx(2.0)
    assert found["parse"].age_s == pytest.approx(2.0)


def test_a_bottleneck_hides_no_demand_behind_it() -> None:
    """`parse` takes a third of what comes: `count` is sized for all of it."""
    found = read(said(emits=300.0, parses=100.0, waits=600.0))
    assert found["count"].demand_per_s == pytest.approx(150.0)
    assert found["parse"].waiting == pytest.approx(600.0)


def test_what_piles_up_at_the_source_is_demand() -> None:
    """It grew by 400 items in 10 s; all of them come to `parse`, half as many to `count`."""
    memory = TopologyMemory(at_source=(SourceSaid(NOW_S - 10.0, 100.0),))
    readings, after = component_readings(chain(), said(), memory, Given(NOW_S, source=AtSource(500.0)))
    found = {each.component: each for each in readings}
    assert found["parse"].demand_per_s == pytest.approx(140.0)
    assert found["parse"].waiting == pytest.approx(500.0)
    assert found["count"].waiting == pytest.approx(250.0)
    assert after.at_source[-1] == SourceSaid(NOW_S, 500.0)


def test_what_came_to_the_source_is_demand_whatever_is_committed() -> None:
    """What waits grew by 600 items in 10 s, of which the spout has emitted all: a commit is only due."""
    memory = TopologyMemory(at_source=(SourceSaid(NOW_S - 10.0, 0.0, 5000.0),))
    given = Given(NOW_S, AtSource(600.0, 6100.0))
    readings, after = component_readings(chain(), said(), memory, given)
    found = {each.component: each for each in readings}
    assert found["parse"].demand_per_s == pytest.approx(110.0)
    assert found["count"].demand_per_s == pytest.approx(55.0)
    assert after.at_source[-1] == SourceSaid(NOW_S, 600.0, 6100.0)


@pytest.mark.parametrize(
    "before",
    [
        None,
        SourceSaid(NOW_S - 10.0, 0.0, 9000.0),
        SourceSaid(NOW_S, 0.0, 5000.0),
        SourceSaid(NOW_S - 20.0, 0.0, 0.0),
    ],
)
def test_a_source_of_which_nothing_is_known_before_leaves_what_is_emitted(
    before: SourceSaid | None,
) -> None:
    """Or that was made anew, so that less has ever come than before, or that another process asked."""
    memory = TopologyMemory(at_source=() if before is None else (before,))
    given = Given(NOW_S, AtSource(600.0, 6100.0), began_s=NOW_S - 15.0)
    readings, _ = component_readings(chain(), said(), memory, given)
    assert {each.component: each for each in readings}["parse"].demand_per_s == pytest.approx(100.0)


def test_a_source_that_does_not_answer_leaves_what_it_said_before() -> None:
    memory = TopologyMemory(at_source=(SourceSaid(NOW_S - 10.0, 100.0, 5000.0),))
    _, after = component_readings(chain(), said(), memory, Given(NOW_S))
    assert after.at_source == memory.at_source


def test_what_was_measured_once_is_remembered() -> None:
    """Right after a change nothing is timed or counted yet."""
    _, memory = component_readings(chain(), said(), TopologyMemory(), Given(NOW_S))
    new = said()
    few = {key: 1.0 if "-count-" in key[1] else value for key, value in new.values.items()}
    readings, _ = component_readings(chain(), TaskReadings(new.rates, few, new.spoke_s), memory, Given(NOW_S))
    found = {each.component: each for each in readings}
    assert found["count"].demand_per_s == pytest.approx(50.0)
    assert found["parse"].service_ms == pytest.approx(8.0)


def test_without_counts_demand_is_unknown_and_no_zero() -> None:
    new = said()
    few = {key: 1.0 if "-count-" in key[1] else value for key, value in new.values.items()}
    found = read(TaskReadings(new.rates, few, new.spoke_s))
    assert found["parse"].demand_per_s is None
    assert found["parse"].service_ms is None


def test_a_component_of_which_an_executor_is_silent_has_no_reading() -> None:
    tasks = said()
    spoke_s = {task: each for task, each in tasks.spoke_s.items() if task != 4}
    assert set(read(TaskReadings(tasks.rates, tasks.values, spoke_s))) == {"spout", "count"}


def test_without_its_spouts_nothing_is_known() -> None:
    tasks = said()
    spoke_s = {task: each for task, each in tasks.spoke_s.items() if task != 1}
    assert read(TaskReadings(tasks.rates, tasks.values, spoke_s)) == {}


def test_a_component_in_another_process_is_timed_where_it_is_never_idle() -> None:
    """Storm times only the handing over."""
    idle = read(said(), chain(other_process=True))
    assert idle["parse"].service_ms is None
    busy = read(said(parses=50.0, waits=1000.0), chain(other_process=True))
    assert busy["parse"].service_ms == pytest.approx(40.0)


def test_what_processes_compute_is_known_of_a_component_that_was_never_busy() -> None:
    """Stated, then seen, then computed: each goes before the next, and all are remembered."""
    topology = chain(other_process=True)
    parse = replace(topology.components["parse"], script="bolts.Parse")
    topology = replace(topology, components={**topology.components, "parse": parse})
    given = Given(NOW_S, child_s={(topology.topology_id, script_key("bolts.Parse")): 1500.0})

    def parsed(
        tasks: TaskReadings, memory: TopologyMemory, given: Given
    ) -> tuple[float | None, TopologyMemory]:
        readings, after = component_readings(topology, tasks, memory, given)
        return {each.component: each for each in readings}["parse"].service_ms, after

    computed, memory = parsed(said(), TopologyMemory(), given)
    assert computed == pytest.approx(15.0)
    later, memory = parsed(said(), memory, Given(NOW_S))
    assert later == pytest.approx(15.0)
    seen, memory = parsed(said(parses=50.0, waits=1000.0), memory, given)
    assert seen == pytest.approx(40.0)
    later, memory = parsed(said(), memory, given)
    assert later == pytest.approx(40.0)
    stated, _ = parsed(said(), memory, replace(given, service_ms={"parse": 11.0}))
    assert stated == 11.0


def test_a_stated_service_time_goes_before_a_measured_one() -> None:
    found = read(said(), given=Given(NOW_S, service_ms={"parse": 11.0}))
    assert found["parse"].service_ms == 11.0
    assert not math.isclose(found["count"].service_ms or 0.0, 11.0)


def test_a_restart_is_no_demand() -> None:
    """What piled up at the source while workers started is worked off, and does not come again."""
    memory = TopologyMemory(at_source=(SourceSaid(NOW_S - 40.0, 100.0),))
    readings, _ = component_readings(
        chain(), said(), memory, Given(NOW_S, source=AtSource(4100.0), since_s=NOW_S - 30.0)
    )
    found = {each.component: each for each in readings}
    assert found["parse"].demand_per_s == pytest.approx(100.0)


def test_a_silent_spout_makes_every_reading_old() -> None:
    tasks = said()
    spoke_s = {**tasks.spoke_s, 1: (NOW_S - 900.0, NOW_S - 600.0)}
    found = read(TaskReadings(tasks.rates, tasks.values, spoke_s))
    assert found["parse"].age_s == pytest.approx(600.0)


def test_what_waits_belongs_to_the_spout_that_is_named() -> None:
    """Of several; without a name it is not known whose it is."""
    two = chain()
    components = {**two.components, "ticks": component("ticks")}
    executors = (*two.executors, RunningExecutor("ticks", 10, 10, "a", 6700))
    topology = replace(two, components=components, executors=executors)
    tasks = said()
    spoke_s = {**tasks.spoke_s, 10: (NOW_S - 20.0, NOW_S - 2.0)}
    rates = {**tasks.rates, (10, "__emit-count-default"): 50.0}
    both = TaskReadings(rates, tasks.values, spoke_s)
    named = read(both, topology, Given(NOW_S, source=AtSource(500.0), spout="spout"))
    assert named["parse"].waiting == pytest.approx(500.0)
    assert read(both, topology, Given(NOW_S, source=AtSource(500.0)))["parse"].waiting == 0.0


def test_a_circle_is_unknown_and_leaves_the_rest_known() -> None:
    """Items go round between `left` and `right`, beside the chain."""
    circle = chain()
    components = {
        **circle.components,
        "left": component("left", "right", "spout"),
        "right": component("right", "left"),
    }
    executors = (
        *circle.executors,
        RunningExecutor("left", 10, 10, "a", 6700),
        RunningExecutor("right", 11, 11, "a", 6700),
    )
    tasks = said()
    spoke_s = {**tasks.spoke_s, **dict.fromkeys((10, 11), (NOW_S - 20.0, NOW_S - 2.0))}
    found = read(
        TaskReadings(tasks.rates, tasks.values, spoke_s),
        replace(circle, components=components, executors=executors),
    )
    assert found["count"].demand_per_s == pytest.approx(50.0)
    assert found["left"].demand_per_s is None


def test_every_task_gets_what_goes_to_all() -> None:
    to_all = chain()
    every = (Source("parse", "default", to_all=True),)
    components = {**to_all.components, "count": replace(to_all.components["count"], inputs=every)}
    found = read(said(), replace(to_all, components=components))
    assert found["count"].demand_per_s == pytest.approx(4 * 50.0)


@pytest.mark.parametrize(
    ("items_of_task", "service_ms"),
    # four tasks: 80 items together are enough
    [(25.0, 8.0), (20.0, 8.0), (19.0, None)],
)
def test_tasks_are_timed_together(items_of_task: float, service_ms: float | None) -> None:
    """A component of many tasks is known as soon as one of few."""
    new = said()
    few = {key: items_of_task if "-count-" in key[1] else value for key, value in new.values.items()}
    found = read(TaskReadings(new.rates, few, new.spoke_s), replace(chain(), sample_rate=1.0))
    assert found["parse"].service_ms == service_ms


@pytest.mark.parametrize(
    ("items_of_task", "service_ms"), [(20.0, 24.0), (40.0, 12.0), (60.0, 8.0), (900.0, 8.0)]
)
def test_a_task_that_was_timed_once_or_twice_says_a_part_of_what_an_item_takes(
    items_of_task: float, service_ms: float
) -> None:
    """Storm divides the last three times by three, however many there were; it times one item in twenty."""
    new = said()
    few = {key: items_of_task if "-count-" in key[1] else value for key, value in new.values.items()}
    found = read(TaskReadings(new.rates, few, new.spoke_s))
    assert found["parse"].service_ms == pytest.approx(service_ms)


@pytest.mark.parametrize(("of_first_executor", "service_ms"), [(9.0, 8.0), (10.0, (20 * 50 + 200 * 8) / 220)])
def test_an_executor_counts_once_all_its_tasks_together_have_done_some(
    of_first_executor: float, service_ms: float
) -> None:
    """The first items take longer. Two tasks of which each has done ten have done twenty."""
    new, values = said(), dict(said().values)
    for task, done, ms in ((2, of_first_executor, 50.0), (3, of_first_executor, 50.0), (4, 100.0, 8.0)):
        values[task, "__execute-count-spout:default"] = done
        values[task, "__execute-latency-spout:default"] = ms
    values[5, "__execute-count-spout:default"] = 100.0
    found = read(TaskReadings(new.rates, values, new.spoke_s), replace(chain(), sample_rate=1.0))
    assert found["parse"].service_ms == pytest.approx(service_ms)


def test_a_task_of_which_no_item_was_timed_does_not_count() -> None:
    new = said()
    untimed = {**new.values, (2, "__execute-latency-spout:default"): 0.0}
    found = read(TaskReadings(new.rates, untimed, new.spoke_s))
    assert found["parse"].service_ms == pytest.approx(8.0)
