"""A gain that restarts more than one round allows comes in parts, each no worse, or is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.small.stability_rounds import Rounds

CAP = 10
# Places on a line, by host: only the middle has room for all.
WHERE = {
    **{f"left-{number}": 0.0 for number in range(3)},
    **{f"middle-{number}": 50.0 for number in range(6)},
    **{f"right-{number}": 100.0 for number in range(3)},
}
HOSTS = list(WHERE)
FAR = [HOSTS.index(f"{side}-{number}") for number in range(3) for side in ("left", "right")]
MIDDLE = [index for index, host in enumerate(HOSTS) if host.startswith("middle")]


def readings(make, moved=None):
    at = {**WHERE, **(moved or {})}
    return tuple(make.reading(host, None, at[host]) for host in HOSTS)


def spread(make, per_worker=5, topology_id="a", port=6700):
    """Thirty executors of a chain, so many in each worker, left and right in turn."""
    topology = make.chain(topology_id, [10, 10, 10], [Grouping.SHUFFLE] * 2)
    slots = [FAR[executor % (30 // per_worker)] for executor in range(30)]
    return make.assigned(topology, slots, port)


def cluster(make, *topologies, room=5):
    meta = {"stormplace.executors": str(room)}
    return replace(
        make.cluster(*topologies),
        supervisors=tuple(make.supervisor(host, meta=meta) for host in HOSTS),
        readings=readings(make),
    )


def begun(make, **move):
    """Rounds of which the second one has carried out a first part."""
    rounds_ = Rounds(cluster(make, spread(make)), max_restarts_per_round=CAP, **move)
    assert "a gain waits until it has been seen for " in rounds_.at(0).status
    assert rounds_.at(30).decision is Decision.ASSIGN
    return rounds_


def test_a_gain_of_thirty_executors_takes_three_rounds_of_ten(make):
    """Two workers a round, one round right after the other, and then everything rests."""
    rounds_ = Rounds(cluster(make, spread(make)), max_restarts_per_round=CAP)
    before = rounds_.at(0).response_time_ms
    parts = [rounds_.at(second) for second in (30, 40, 50)]
    assert [part.decision for part in parts] == [Decision.ASSIGN] * 3
    assert [part.price.executors_restarted for part in parts] == [CAP] * 3
    times_ms = [before, *(part.response_time_ms for part in parts)]
    assert times_ms == sorted(times_ms, reverse=True)
    assert set(parts[-1].executor_supervisor) == set(MIDDLE)
    assert "% takes 2 more rounds" in parts[0].status
    assert "% takes 1 more round:" in parts[1].status
    assert "more round" not in parts[2].status
    assert rounds_.memory.topologies[0].watched is None
    assert rounds_.at(60).decision is Decision.KEEP


@pytest.mark.parametrize("move", [{"cool_down_s": 0}, {"stabilisation_s": 1e-9}, {}])
def test_a_change_that_has_begun_goes_on_whatever_gains_wait_for(make, move):
    rounds_ = begun(make, **move)
    assert [rounds_.at(second).decision for second in (40, 50)] == [Decision.ASSIGN] * 2


def test_a_change_whose_gain_vanishes_ends_and_rests(make):
    """The middle is far away of late: what is there stays for its cool-down, what is not stays too."""
    rounds_ = begun(make)
    far = {host: 400.0 + 400.0 * (host == "middle-5") for host in HOSTS if host.startswith("middle")}
    rounds_.request = replace(rounds_.request, readings=readings(make, far))
    answer = rounds_.at(40)
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: a change in several rounds ends here, ")
    assert rounds_.memory.topologies[0].watched is None
    rounds_.request = replace(rounds_.request, readings=readings(make))
    assert rounds_.cooling_s(50) == 100


def test_a_change_with_little_gain_against_its_beginning_ends(make):
    """Left and right have come so near each other that the whole of it is worth no restart any more."""
    rounds_ = begun(make)
    near = {host: 48.0 if host.startswith("left") else 52.0 for host in HOSTS if "middle" not in host}
    rounds_.request = replace(rounds_.request, readings=readings(make, near))
    assert rounds_.at(40).status.startswith("kept: a change in several rounds ends here, its gain is gone")


def test_a_change_of_which_nothing_is_left_to_gain_ends(make):
    """Against its beginning it still gains, but by now it is better to stay: the rest would go far away."""
    rounds_ = begun(make)
    assert rounds_.at(40).decision is Decision.ASSIGN
    slots = rounds_.request.topologies[0].executor_supervisor
    left = set(MIDDLE) - set(slots)
    assert left
    rounds_.request = replace(
        rounds_.request, readings=readings(make, {HOSTS[index]: 50.0 - 70.0 for index in left})
    )
    assert "ends here, there is nothing left to gain" in rounds_.at(50).status


def test_a_change_whose_gain_is_not_believed_any_more_ends(make):
    rounds_ = begun(make)
    rounds_.request = replace(rounds_.request, readings_live=False)
    assert "ends here, readings are not live" in rounds_.at(40).status


def test_a_change_to_hosts_that_are_gone_ends(make):
    rounds_ = begun(make)
    target = rounds_.memory.topologies[0].watched.hosts
    running = {
        rounds_.request.supervisors[slot].host for slot in rounds_.request.topologies[0].executor_supervisor
    }
    gone = next(host for host in target if host not in running)
    listed = tuple(replace(each, blacklisted=each.host == gone) for each in rounds_.request.supervisors)
    rounds_.request = replace(rounds_.request, supervisors=listed)
    answer = rounds_.at(40)
    assert "ends here, its hosts cannot be had any more" in answer.status


def test_a_part_that_was_not_carried_out_begins_anew(make):
    """The answer came too late: nothing of it happened, and the gain is watched again."""
    rounds_ = Rounds(cluster(make, spread(make)), max_restarts_per_round=CAP)
    rounds_.at(0)
    assert rounds_.at(30, carry_out=False).decision is Decision.ASSIGN
    assert rounds_.seen_s(40) == 0
    assert rounds_.at(70).decision is Decision.ASSIGN


def test_a_change_goes_on_after_a_round_whose_restarts_others_used(make):
    """A pin of another topology is broken, and its one worker is as large as the round allows."""
    rounds_ = begun(make, cool_down_s=0)
    pinned = make.taxi("0", {"pin": dict.fromkeys(("dataSource", "parser"), "host:right-2")})
    pinned = make.assigned(pinned, [HOSTS.index("left-2")] * 8, 6701)
    roomy = tuple(replace(each, meta={"stormplace.executors": "13"}) for each in rounds_.request.supervisors)
    before = rounds_.request
    rounds_.request = replace(before, topologies=(pinned, *before.topologies), supervisors=roomy)
    rounds_.at(40)
    assert rounds_.memory.topologies[-1].watched.began
    rounds_.request = replace(before, topologies=rounds_.request.topologies[1:])
    assert rounds_.at(50).decision is Decision.ASSIGN


def test_workers_larger_than_a_round_allows_are_refused_with_the_number_of_rounds(make):
    """Fifteen executors restart together or not at all."""
    rounds_ = Rounds(cluster(make, spread(make, per_worker=15), room=15), max_restarts_per_round=CAP)
    answer = rounds_.at(0)
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith(
        "kept: best candidate gains enough but restarts more executors than the 10 that may restart in a "
        "round: it would take 3 rounds or more, and no 8 that each leave it no worse lead there ("
    )
    assert rounds_.memory.topologies == ()


def test_with_default_settings_thirty_executors_move_in_one_round(make):
    rounds_ = Rounds(cluster(make, spread(make)))
    rounds_.at(0)
    answer = rounds_.at(30)
    assert (answer.decision, answer.price.executors_restarted) == (Decision.ASSIGN, 30)
    assert "more round" not in answer.status
