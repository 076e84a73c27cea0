"""What is seen at the beginning of a round, where a source is asked what waits there."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from formats.script_key import script_key
from provisioning.cluster.agents import AgentsError
from provisioning.cluster.look import ClusterLook
from provisioning.loop.memory import Memory
from provisioning.loop.seeing import Seeing
from provisioning.measuring.component_readings import TopologyMemory
from provisioning.measuring.lag import AtSource, LagError
from tests.provisioning.loop.world import ROUND_S, TOPOLOGY, TOPOLOGY_ID, World, settings_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from provisioning.loop.seeing import Seen


class Source:
    """One that says what it is told to."""

    def __init__(self, *answers: AtSource | LagError) -> None:
        self._answers = list(answers)

    def lag(self) -> AtSource:
        answer = self._answers.pop(0)
        if isinstance(answer, LagError):
            raise answer
        return answer


def rounds(*sources: Source, count: int = 2) -> Seen:
    """Return what the last of some rounds sees."""
    world, memory = World(demand_per_s=20.0), Memory("test")
    seeing = Seeing(settings_of(), world, {TOPOLOGY: sources}, world.now_s)
    for _ in range(count):
        world.now_s += ROUND_S
        seen = seeing.measure(world.look(), [TOPOLOGY], memory, world.now_s)
        memory = seen.memory
    return seen


@dataclass
class Agents:
    """Agents that have found 100 ms for each item so far, or do not answer."""

    world: World
    silent: bool = False
    asked: list[set[str]] = field(default_factory=list)

    def child_seconds(self, hosts: Collection[str], now_s: float) -> dict[tuple[str, str], float]:
        assert now_s == self.world.now_s
        self.asked.append(set(hosts))
        if self.silent:
            raise AgentsError("ZooKeeper h:1 cannot be asked: refused")
        items = 1000.0 * self.world.demand_per_s
        return {(TOPOLOGY_ID, script_key(self.world.script)): items * 0.1}


def seen_with(agents: Agents, memory: Memory, **changes: object) -> Seen:
    agents.world.now_s += ROUND_S
    seeing = Seeing(settings_of(**changes), agents.world, {}, 0.0, agents)
    return seeing.measure(agents.world.look(), [TOPOLOGY], memory, agents.world.now_s)


def test_agents_are_asked_of_components_in_other_processes() -> None:
    """Where these run; 20 items a second keep two executors busy."""
    agents = Agents(World(demand_per_s=20.0, script="bolts.Rank"))
    (reading,) = seen_with(agents, Memory("test")).readings
    assert reading.service_ms == pytest.approx(100.0)
    assert agents.asked == [{"own-1"}]


def test_agents_are_not_asked_where_more_is_known() -> None:
    stated = {TOPOLOGY: {"component": {"bolt": {"service_ms": 70.0}}}}
    agents = Agents(World(script="bolts.Rank"))
    (reading,) = seen_with(agents, Memory("test"), topology=stated).readings
    assert reading.service_ms == pytest.approx(70.0)
    known = Memory("test", topologies={TOPOLOGY_ID: TopologyMemory(service_ms={"bolt": 80.0})})
    (reading,) = seen_with(agents, known).readings
    assert reading.service_ms == pytest.approx(80.0)
    in_the_jvm = Agents(World())
    seen_with(in_the_jvm, Memory("test"))
    assert agents.asked == in_the_jvm.asked == []


def test_agents_that_cannot_be_asked_are_named() -> None:
    agents = Agents(World(script="bolts.Rank"), silent=True)
    seen = seen_with(agents, Memory("test"))
    assert seen.faults[0].startswith("ZooKeeper h:1 cannot be asked: refused; what processes of components")
    (reading,) = seen.readings
    assert reading.service_ms is None


def test_sources_are_added_up() -> None:
    one = Source(AtSource(10.0, 100.0), AtSource(30.0, 100.0 + 30.0 * ROUND_S))
    two = Source(AtSource(0.0, 5.0), AtSource(2.0, 5.0 + 10.0 * ROUND_S))
    (reading,) = rounds(one, two).readings
    assert reading.demand_per_s == pytest.approx(40.0)
    assert reading.waiting == pytest.approx(32.0)


def test_a_source_of_a_spout_that_is_not_there_is_named() -> None:
    """Also where the topology has one spout only: what waits would silently be nobody's."""
    table = {"kind": "redis", "address": "r:6379", "key": "k", "spout": "rows"}
    settings, world = settings_of(topology={TOPOLOGY: {"lag": [table]}}), World(demand_per_s=20.0)
    seeing = Seeing(settings, world, {TOPOLOGY: [Source(AtSource(10.0, 100.0))]}, world.now_s)
    seen = seeing.measure(world.look(), [TOPOLOGY], Memory("test"), world.now_s)
    why = "topology.words.lag: spout must be one of spout"
    assert seen.faults == (f"words: {why}; its demand is what its spouts emit",)


def test_a_source_that_jumps_is_named_and_counts_once_it_says_so_again() -> None:
    """Twenty items a second come; then somebody sets the counter, and a queue, to a billion."""
    steady = [AtSource(5.0, 20.0 * ROUND_S * k) for k in range(4)]
    wild = AtSource(1e9, 1e9)
    seen = rounds(Source(*steady, wild), count=5)
    (reading,) = seen.readings
    assert (reading.demand_per_s, reading.waiting) == (pytest.approx(20.0), 5.0)
    assert seen.faults == (
        "words: its source says that 1e+09 more items came or wait, far more than usual;"
        " that counts if it says so again",
    )
    again = rounds(Source(*steady, wild, AtSource(1e9, 1e9 + 300.0)), count=6)
    (reading,) = again.readings
    assert (reading.demand_per_s, reading.waiting) == (pytest.approx(20.0), 1e9)
    assert not again.faults
    steadily = [AtSource(1e9, 1e9 + 300.0 * k) for k in range(1, 5)]
    more = rounds(Source(*steady, wild, *steadily, AtSource(2e9, 3e9)), count=10)
    assert not more.faults, "for an hour others are believed at once"
    (reading,) = more.readings
    assert reading.waiting == 2e9
    back = rounds(Source(*steady, wild, AtSource(5.0, 20.0 * ROUND_S * 5.0)), count=6)
    (reading,) = back.readings
    assert (reading.demand_per_s, reading.waiting) == (pytest.approx(20.0), 5.0)
    assert not back.faults


def test_sources_of_several_topologies_are_asked_at_once() -> None:
    """Each answers once both are asked."""
    both = threading.Barrier(2, timeout=60)

    class Waiting:
        def lag(self) -> AtSource:
            both.wait()
            raise LagError("asked")

    lags = {"one": [Waiting()], "two": [Waiting()]}
    world = World()
    seeing = Seeing(settings_of(topology={"one": {}, "two": {}}), world, lags)
    topology = world.look().topologies[TOPOLOGY]
    look = ClusterLook({}, {name: replace(topology, name=name) for name in lags})
    seen = seeing.measure(look, ["one", "two"], Memory("test"), world.now_s)
    assert [each for each in seen.faults if "asked; its demand" in each] == [
        f"{name}: asked; its demand is what its spouts emit" for name in lags
    ]


def test_what_came_to_one_of_two_is_not_what_came() -> None:
    """Then what waits more than before comes on top of what is emitted."""
    one = Source(AtSource(0.0, 100.0), AtSource(0.0, 9999.0))
    two = Source(AtSource(0.0), AtSource(5.0 * ROUND_S))
    (reading,) = rounds(one, two).readings
    assert reading.demand_per_s == pytest.approx(25.0)


@pytest.mark.parametrize("odd", [AtSource(float("nan"), 0.0), AtSource(1.0, float("inf"))])
def test_a_number_that_is_none_is_not_believed(odd: AtSource) -> None:
    """A counter in Redis may hold any text that stands for a number."""
    seen = rounds(Source(AtSource(0.0, 0.0), odd))
    (fault,) = (each for each in seen.faults if "finite" in each)
    assert fault == "words: what waits at its source is no finite number; its demand is what its spouts emit"
    assert seen.readings[0].demand_per_s == 20.0


def test_a_source_that_does_not_answer_is_named_and_no_zero() -> None:
    silent = Source(AtSource(50.0, 0.0), LagError("Kafka k:1, group g: no answer within 6 s"))
    seen = rounds(silent)
    assert seen.faults == (
        f"{TOPOLOGY}: Kafka k:1, group g: no answer within 6 s; its demand is what its spouts emit",
    )
    (reading,) = seen.readings
    assert reading.demand_per_s == pytest.approx(20.0)
    (memory,) = seen.memory.topologies.values()
    assert memory.at_source[-1].waiting == 50.0
