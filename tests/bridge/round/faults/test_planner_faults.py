"""What goes wrong in a round costs only what it concerns: readings, pins, settings, time."""

from __future__ import annotations

from dataclasses import replace

from bridge.round.planner import plan_round
from bridge.round.small import small_round as small
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import stopped


def only(request, **sections):
    done = plan_round(request, Settings(**sections), stopped)
    assert (done.traces, done.left_out) == ((), ())
    return done.response.plans[0]


def blacklisted(request, index):
    listed = list(request.supervisors)
    listed[index] = replace(listed[index], blacklisted=True)
    return replace(request, supervisors=tuple(listed))


def test_an_absurd_reading_degrades_its_own_host_only(make):
    """The host is named, its delays come from its site; the others keep their coordinates."""
    request = make.cluster(make.taxi())
    readings = list(request.readings)
    readings[0] = make.reading("uniroma2-1", "uniroma2", 1e16)
    status = only(replace(request, readings=tuple(readings))).status
    assert "delays from coordinates 6/7, 1 by site median" in status
    assert "reading of uniroma2-1 is malformed (coordinate.0: " in status


def test_a_pin_to_an_unusable_host_does_not_block_the_other_components(make):
    """dataSource runs on its host, which is blacklisted since; globalRank was lost and is placed."""
    pinned = make.taxi(settings={"pin": {"dataSource": "host:uniroma2-1"}})
    slots = [0, 1, 1, 2, 2, 3, 3, -1]
    request = blacklisted(make.cluster(make.assigned(pinned, slots, [6700] * 7 + [-1])), 0)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert list(answer.executor_supervisor[:7]) == slots[:7]
    assert answer.executor_supervisor[7] != 0


def test_what_is_pinned_to_an_unusable_host_stays_when_others_make_room(make):
    """globalRank is pinned to a full host: one executor there leaves, dataSource does not."""
    pins = {"dataSource": "host:uniroma2-1", "globalRank": "host:uniroma2-2"}
    slots = [0, 1, 1, 2, 2, 3, 3, -1]
    topology = make.assigned(make.taxi(settings={"pin": pins}), slots, [6700] * 7 + [-1])
    answer = only(blacklisted(make.cluster(topology), 0))
    assert answer.decision is Decision.ASSIGN
    assert (answer.executor_supervisor[0], answer.executor_supervisor[7]) == (0, 1)


def test_a_lost_executor_with_a_pin_that_cannot_be_met_is_stated(make):
    """Its own pin still counts."""
    pinned = make.taxi(settings={"pin": {"globalRank": "host:uniroma2-1"}})
    slots = [3, 1, 1, 2, 2, 3, 4, -1]
    request = blacklisted(make.cluster(make.assigned(pinned, slots, [6700] * 7 + [-1])), 0)
    answer = only(request)
    assert answer.decision is Decision.UNPLACEABLE
    assert answer.status.startswith("not placed: globalRank is pinned to host:uniroma2-1, where no usable")


def test_a_running_topology_whose_pin_cannot_be_met_is_kept(make):
    """Everything runs: it is not `not placed`, whether the place is unknown or too small."""
    slots = [0, 0, 1, 1, 2, 2, 3, 3]
    nowhere = make.assigned(make.taxi(settings={"pin": {"parser": "site:atlantis"}}), slots)
    answer = only(make.cluster(nowhere))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept (pin not met): parser is pinned to site:atlantis, which is not")
    crowd = dict.fromkeys(("parser", "metronome", "globalRank"), "host:us-east1-1")
    answer = only(make.cluster(make.assigned(make.taxi(settings={"pin": crowd}), slots)))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept (pin not met): ")


def test_a_pin_that_can_be_met_is_met_beside_one_that_cannot(make):
    """globalRank goes home although parser has none."""
    pins = {"parser": "site:atlantis", "globalRank": "host:us-east1-1"}
    slots = [0, 0, 1, 1, 2, 2, 3, 3]
    request = make.cluster(make.assigned(make.taxi(settings={"pin": pins}), slots))
    answer = only(request, move=MoveSettings(min_gain=1.0))
    assert answer.decision is Decision.ASSIGN
    assert list(answer.executor_supervisor) == [*slots[:7], 5]


def test_time_that_runs_out_leaves_the_rest_to_storm(make, monkeypatch):
    """The first topology is placed, the running one kept, the third left out of the answer."""
    pair = make.chain("a", [1, 1], [Grouping.SHUFFLE])
    running = make.assigned(make.chain("b", [1], []), [0], 6701)
    request = make.cluster(pair, running, make.chain("c", [1], []))
    now = [0.0]

    genuine = small.place_missing

    def slow(*arguments):
        verdict = genuine(*arguments)
        now[0] += 3600.0
        return verdict

    monkeypatch.setattr(small, "place_missing", slow)
    done = plan_round(request, Settings(), lambda: now[0])
    assert [(answer.topology_id, answer.decision) for answer in done.response.plans] == [
        ("a", Decision.ASSIGN),
        ("b", Decision.KEEP),
    ]
    assert done.left_out == (("c", "no time left in this round"),)
    assert done.timed_out


def test_no_better_place_is_sought_when_the_time_is_over(make, monkeypatch):
    """It runs out while the first topology is looked at: the second one is kept unasked."""
    far = make.chain("a", [1, 1], [Grouping.SHUFFLE])
    request = make.cluster(
        make.assigned(far, [0, 5], 6700), make.assigned(replace(far, id="b", name="b"), [1, 6], 6701)
    )
    now, asked = [0.0], []

    genuine = small.improve

    def slow(state, task, *arguments, **options):
        asked.append(task.topology.id)
        verdict = genuine(state, task, *arguments, **options)
        now[0] += 3600.0
        return verdict

    monkeypatch.setattr(small, "improve", slow)
    done = plan_round(request, Settings(move=MoveSettings(cool_down_s=0, stabilisation_s=0)), lambda: now[0])
    assert asked == ["a"]
    assert [answer.decision for answer in done.response.plans] == [Decision.ASSIGN, Decision.KEEP]
    assert done.response.plans[1].status.startswith("kept: no time left in this round; ")


def test_bad_settings_stand_before_the_data(make):
    """The shim cuts long lines at their end."""
    status = only(make.cluster(make.taxi(settings={"colour": "red"}))).status
    assert status.index("setting ignored: topology.stormplace.colour") < status.index("delays from")
