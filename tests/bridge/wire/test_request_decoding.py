"""A malformed topology is named with its place and stands aside; all other faults refuse the request."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bridge.wire.contract import WireError
from bridge.wire.encoding import decode_received, encode_struct
from bridge.wire.request_decoding import Malformed, request_from_thrift
from bridge.wire.structs import to_thrift


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"executor_port": (1,)}, "topologies[0].executor_port: 1 values where executor_first_task has 8"),
        ({"stream_to": (0,)}, "topologies[0].stream_to: 1 values where stream_from has 8"),
        (
            {"shared_component": (0,), "shared_piece": (), "shared_mb": ()},
            "topologies[0].shared_piece: 0 values where 1 are expected",
        ),
        ({"shared_mb": (1.0, 2.0)}, "topologies[0].shared_mb: 2 values are no triples"),
        ({"shared_mb": (1.0, 2.0, -1.0)}, "topologies[0].shared_mb[2]: -1 is outside 0..1e+09"),
        (
            {"shared_component": (8,), "shared_piece": (0,), "shared_mb": (0.0, 0.0, 0.0)},
            "topologies[0].shared_component[0]: 8 is outside 0..7",
        ),
        (
            {"shared_component": (0,), "shared_piece": (1,), "shared_mb": (0.0, 0.0, 0.0)},
            "topologies[0].shared_piece[0]: 1 is outside 0..0",
        ),
        ({"executor_supervisor": (7,) * 8}, "topologies[0].executor_supervisor[0]: 7 is outside -1..6"),
        ({"executor_component": (0,) * 7 + (8,)}, "topologies[0].executor_component[7]: 8 is outside 0..7"),
        (
            {"executor_supervisor": (0,) * 8},
            "topologies[0].executor_port[0]: port -1 does not fit supervisor 0",
        ),
        (
            {"executor_first_task": (3,) * 8},
            "topologies[0].executor_first_task[0]: task range 3-1 is empty or out of order",
        ),
        ({"stream_from": (-1,) * 8}, "topologies[0].stream_from[0]: -1 is outside 0..7"),
        *(
            (
                {name: (1.0,) * 5 + (bad,) + (1.0,) * 2},
                f"topologies[0].{name}[5]: {bad:g} is outside 0..1e+09",
            )
            for name in ("executor_cpu_percent", "executor_memory_mb", "component_heap_mb")
            for bad in (float("nan"), float("inf"), -1.0, 1e30)
        ),
    ],
)
def test_a_broken_topology_is_named_with_its_place(make, changes, reason):
    """Lists that are not parallel, indices out of range: field and position. The other one is whole."""
    request = make.cluster(replace(make.taxi("a"), **changes), make.taxi("b"))
    received = request_from_thrift(to_thrift(request))
    assert received.malformed == (Malformed("a", reason),)
    assert received.request.topologies[1] == request.topologies[1]
    assert [each.id for each in received.request.topologies] == ["a", "b"]


@pytest.mark.parametrize("seed", range(30))
def test_the_first_wrong_executor_is_named_wherever_it_is(make, seed):
    """One list is wrong from some executor on; before it everything is in order."""
    rng = random.Random(seed)
    sound = make.chain("a", (5, 6), [0], tasks_per_executor=2)
    first, last = [*sound.executor_first_task], [*sound.executor_last_task]
    supervisor = [rng.choice((-1, 0, 6)) for _ in first]
    port = [-1 if each == -1 else rng.choice((0, 6700)) for each in supervisor]
    at = rng.randrange(1, len(first))
    fault = rng.choice(("empty", "overlaps", "no port", "no supervisor", "outside"))
    if fault == "empty":
        last[at] = first[at] - 1
    elif fault == "overlaps":
        first[at] = last[at - 1]
    elif fault == "outside":
        supervisor[at:] = [7] * (len(first) - at)
    else:
        supervisor[at], port[at] = (0, -1) if fault == "no port" else (-1, 6700)
    raw = to_thrift(make.cluster(sound))
    topology = raw.topologies[0]
    topology.executor_first_task, topology.executor_last_task = first, last
    topology.executor_supervisor, topology.executor_port = supervisor, port
    reason = {
        "outside": f"executor_supervisor[{at}]: 7 is outside -1..6",
        "no port": f"executor_port[{at}]: port -1 does not fit supervisor 0",
        "no supervisor": f"executor_port[{at}]: port 6700 does not fit supervisor -1",
    }.get(fault, f"executor_first_task[{at}]: task range {first[at]}-{last[at]} is empty or out of order")
    assert request_from_thrift(raw).malformed == (Malformed("a", f"topologies[0].{reason}"),)


def test_unknown_enumerators_and_missing_fields_cost_their_topology_alone(make):
    """A grouping 99, and a topology without component names."""
    raw = to_thrift(make.cluster(make.taxi("a"), make.taxi("b"), make.taxi("c")))
    raw.topologies[0].stream_groupings[2] = 99
    raw.topologies[1].component_names = None
    received = request_from_thrift(raw)
    assert received.malformed == (
        Malformed("a", "topologies[0].stream_groupings[2]: 99 is no Grouping"),
        Malformed("b", "topologies[1].component_names: missing"),
    )
    assert received.request.topologies[2] == make.taxi("c")


def test_a_sound_request_is_taken_as_it_is(make):
    """Nothing is malformed, and the struct that came in is not touched."""
    raw = to_thrift(make.cluster(make.taxi()))
    received = request_from_thrift(raw)
    assert (received.request, received.malformed) == (make.cluster(make.taxi()), ())
    assert raw == to_thrift(make.cluster(make.taxi()))


def test_a_stand_in_holds_the_slots_that_can_be_read(make):
    """Known supervisors and real ports; with its demand, and frozen."""
    slots = make.assigned(
        make.taxi("a"), [0, 0, 1, 9, -1, 2, 2, 2], [6700, 6700, 6701, 6700, -1, -5, 6700, 6700]
    )
    stand_in = request_from_thrift(to_thrift(make.cluster(slots))).request.topologies[0]
    assert list(zip(stand_in.executor_supervisor, stand_in.executor_port, strict=True)) == [
        (0, 6700),
        (0, 6700),
        (1, 6701),
        (2, 6700),
        (2, 6700),
    ]
    assert stand_in.executor_memory_mb == (128.0,) * 5
    assert stand_in.settings_json == '{"topology.stormplace.frozen": true}'


def test_a_stand_in_takes_no_slot_from_a_topology_that_is_in_order(make):
    """Whoever describes itself wrongly may name what is another one's."""
    bad = replace(make.assigned(make.taxi("a"), [0, 0, 0, 0, 1, 1, 1, 1], 6700), stream_to=())
    worse = replace(make.assigned(make.taxi("b"), [1, 1, 1, 1, 2, 2, 2, 2], 6700), executor_cpu_percent=())
    good = make.assigned(make.taxi("c"), [0, 0, 0, 0, 3, 3, 3, 3], 6700)
    topologies = request_from_thrift(to_thrift(make.cluster(bad, worse, good))).request.topologies
    assert [set(each.executor_supervisor) for each in topologies] == [{1}, {2}, {0, 3}]
    assert topologies[1].executor_cpu_percent == (0.0,) * 4


def test_two_malformed_topologies_share_no_slot(make):
    """The first has it."""
    bad, worse = (replace(make.assigned(make.taxi(name), [0] * 8, 6700), stream_to=()) for name in ("a", "b"))
    topologies = request_from_thrift(to_thrift(make.cluster(bad, worse))).request.topologies
    assert [each.n_executors for each in topologies] == [8, 0]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda raw: setattr(raw.topologies[1], "id", None), r"topologies\[1\].id: missing"),
        (lambda raw: setattr(raw.topologies[1], "id", "a"), r"topologies\[1\].id: 'a' occurs twice"),
        (lambda raw: setattr(raw.supervisors[3], "host", None), r"supervisors\[3\].host: missing"),
        (lambda raw: setattr(raw.supervisors[3], "id", raw.supervisors[0].id), r"supervisors\[3\].id"),
        (lambda raw: setattr(raw, "readings", None), "request.readings: missing"),
        (lambda raw: setattr(raw, "version", None), "contract version None"),
    ],
)
def test_what_no_topology_can_be_given_as_its_reason_refuses_the_request(make, spoil, message):
    """Ids that are missing or not unique, supervisors, and the request itself."""
    raw = to_thrift(make.cluster(make.taxi("a"), make.taxi("b")))
    spoil(raw)
    with pytest.raises(WireError, match=message):
        request_from_thrift(raw)


def test_a_malformed_request_survives_its_bytes(make):
    """Records hold it as it came, so that a replay finds the same faults."""
    raw = to_thrift(make.cluster(replace(make.taxi("a"), stream_to=()), make.taxi("b")))
    received = request_from_thrift(raw)
    assert received.malformed
    assert decode_received(encode_struct(raw)) == received
