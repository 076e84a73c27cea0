"""What one round knows of the one before: what is forgotten, what no round may change, and how it is kept."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.round.memory import NOTHING, Change, Memory, TopologyMemory, Watched, memory_from_json
from bridge.round.planner import plan_round
from bridge.server import handler as rounds
from bridge.server.handler import RoundHandler
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from formats.log import Log
from tests.bridge.round.planner_rounds import PINNED, SCATTERED
from tests.bridge.round.small.stability_rounds import Rounds, scattered


def test_topologies_that_vanish_are_forgotten(make):
    """One cools down, one is watched; what is settled or gone leaves no trace."""
    request = make.cluster(make.chain("a", [1], []), make.assigned(make.taxi("b", PINNED), SCATTERED, 6701))
    rounds_ = Rounds(request)
    rounds_.at(0)
    assert [(each.id, each.change is None, each.watched is None) for each in rounds_.memory.topologies] == [
        ("a", False, True),
        ("b", True, False),
    ]
    first, _ = rounds_.request.topologies
    rounds_.request = replace(rounds_.request, topologies=(first,))
    rounds_.at(10)
    assert [each.id for each in rounds_.memory.topologies] == ["a"]
    rounds_.at(120)
    assert rounds_.memory.topologies == ()


def test_a_restart_of_the_daemon_forgets_safely(make):
    """No cool-down is assumed, and the gain must be seen anew."""
    rounds_ = Rounds(make.cluster(scattered(make)))
    for second in (0, 30):
        rounds_.at(second)
    rounds_.request = replace(rounds_.request, topologies=(scattered(make),))
    rounds_.memory = NOTHING
    assert rounds_.seen_s(40) == 0
    assert rounds_.seen_s(60) == 20
    assert rounds_.at(70).decision is Decision.ASSIGN


def test_a_round_without_time_is_no_break(make):
    """No round looked."""
    request = make.cluster(scattered(make))
    rounds_ = Rounds(request)
    rounds_.at(0)
    before = rounds_.memory
    rounds_.request = replace(request, deadline_ms=0)
    assert "no time left" in rounds_.at(10).status
    assert rounds_.memory == before
    rounds_.request = request
    assert rounds_.at(30).decision is Decision.ASSIGN


@pytest.mark.parametrize("section", [{"frozen": True}, {}])
def test_what_may_not_move_is_not_watched(make, section):
    """A frozen topology, or one of workers that are larger than a round may restart."""
    topology = make.assigned(make.taxi("taxi-1", {**PINNED, **section}), [0, 5, 5, 5, 5, 5, 5, 1])
    rounds_ = Rounds(make.cluster(topology), max_restarts_per_round=2)
    assert rounds_.at(0).decision is Decision.KEEP
    assert rounds_.memory.topologies == ()


def test_the_daemon_keeps_the_memory_between_rounds(make):
    """The first round sees the gain, the second one moves."""
    settings = Settings(move=MoveSettings(stabilisation_s=1e-9))
    handler = RoundHandler(settings, None, Log(stream=io.StringIO()))
    request = to_thrift(replace(make.cluster(scattered(make)), deadline_ms=60_000))
    decisions = [handler.call().plan(request).plans[0].decision for _ in range(2)]
    assert decisions == [Decision.KEEP, Decision.ASSIGN]


def test_of_rounds_that_overlap_the_one_that_began_last_has_the_last_word(make, monkeypatch):
    """The first ends after the second and must not bring back what it knew."""
    handler = RoundHandler(Settings(), None, Log(stream=io.StringIO()))
    seen = []

    def planned(request, *arguments, memory, now_s, **times):
        seen.append(memory)
        if request.round_id == "first":
            handler.call().plan(to_thrift(replace(request, round_id="second")))
        done = plan_round(request, *arguments, memory=memory, now_s=now_s, **times)
        remembered = Memory((TopologyMemory(request.round_id, watched=Watched((), now_s)),))
        return replace(done, memory=remembered)

    monkeypatch.setattr(rounds, "plan_round", planned)
    for name in ("first", "third"):
        handler.call().plan(to_thrift(replace(make.cluster(), round_id=name)))
    assert seen[:2] == [NOTHING, NOTHING]
    assert [each.id for each in seen[2].topologies] == ["second"]


finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.lists(st.text()).map(tuple)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.builds(
            TopologyMemory,
            st.text(),
            st.none() | st.builds(Change, finite, st.text()),
            st.none() | st.builds(Watched, names, finite, names),
        )
    ),
    st.booleans(),
)
def test_a_memory_survives_json(topologies, measured):
    """To the last bit: records hold it."""
    memory = Memory(tuple(topologies), measured)
    assert memory_from_json(memory.to_json()) == memory
