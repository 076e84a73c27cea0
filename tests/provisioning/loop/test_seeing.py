"""What is seen at the beginning of a round, where a source is asked what waits there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from provisioning.loop.memory import Memory
from provisioning.loop.seeing import Seeing
from provisioning.measuring.lag import AtSource, LagError
from tests.provisioning.loop.world import ROUND_S, TOPOLOGY, World, settings_of

if TYPE_CHECKING:
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


def test_sources_are_added_up() -> None:
    one = Source(AtSource(10.0, 100.0), AtSource(30.0, 100.0 + 30.0 * ROUND_S))
    two = Source(AtSource(0.0, 5.0), AtSource(2.0, 5.0 + 10.0 * ROUND_S))
    (reading,) = rounds(one, two).readings
    assert reading.demand_per_s == pytest.approx(40.0)
    assert reading.waiting == pytest.approx(32.0)


def test_what_came_to_one_of_two_is_not_what_came() -> None:
    """Then what waits more than before comes on top of what is emitted."""
    one = Source(AtSource(0.0, 100.0), AtSource(0.0, 9999.0))
    two = Source(AtSource(0.0), AtSource(5.0 * ROUND_S))
    (reading,) = rounds(one, two).readings
    assert reading.demand_per_s == pytest.approx(25.0)


def test_a_source_that_does_not_answer_is_named_and_no_zero() -> None:
    silent = Source(AtSource(50.0, 0.0), LagError("Kafka k:1, group g: no answer within 6 s"))
    seen = rounds(silent)
    assert seen.faults == (
        f"{TOPOLOGY}: Kafka k:1, group g: no answer within 6 s; its demand is what its spouts emit",
    )
    (reading,) = seen.readings
    assert reading.demand_per_s == pytest.approx(20.0)
    ((lag, _),) = (each.lag for each in seen.memory.topologies.values() if each.lag is not None)
    assert lag == 50.0
