"""Messages pass through bytes unchanged, and whatever breaks the contract is refused with its place."""

from __future__ import annotations

import os
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.wire import messages
from bridge.wire.contract import VERSION, WireError, idl
from bridge.wire.encoding import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from bridge.wire.messages import Decision, PlanResponse, Price, TopologyPlan
from bridge.wire.request_decoding import request_from_thrift
from bridge.wire.structs import to_thrift

RESPONSE = PlanResponse(
    VERSION,
    "round-1",
    (
        TopologyPlan(
            "a", Decision.ASSIGN, (0, 1), (6700, 6701), "placed", "greedy", 0.5, 12.0, None, Price(0.1, 2, 1)
        ),
        TopologyPlan("b", Decision.KEEP, (), (), "kept, unverändert", "greedy"),
    ),
)


def test_a_request_survives_its_bytes(make):
    """Decoding what was encoded gives the same request, assignments and unusual names included."""
    request = make.cluster(make.assigned(make.taxi("täxi"), [0, 1, 2, 3, 4, 5, 6, 6]))
    assert decode_request(encode_request(request)) == request


def test_a_response_survives_its_bytes():
    """Decoding what was encoded gives the same response, optional fields absent or not."""
    assert decode_response(encode_response(RESPONSE)) == RESPONSE


@pytest.mark.parametrize("kind", ["ComponentKind", "Grouping", "ReadingKind", "Decision"])
def test_enumerations_are_those_of_the_contract(kind):
    """Every enumerator of the contract has the same name and number here, and there are no others."""
    ours = {member.name: int(member) for member in getattr(messages, kind)}
    assert ours == getattr(idl, kind)._NAMES_TO_VALUES


@pytest.mark.parametrize(
    "kind", ["Supervisor", "Topology", "Reading", "PlanRequest", "Price", "TopologyPlan", "PlanResponse"]
)
def test_messages_have_the_fields_of_the_contract(kind):
    """Every field of the contract's structs exists here, in the same order, and there are no others."""
    ours = [field.name for field in fields(getattr(messages, kind))]
    assert ours == [spec[1] for spec in getattr(idl, kind).thrift_spec.values()]


def test_another_version_is_refused_both_ways(make):
    """Request and response of version 2 are refused with both versions named."""
    with pytest.raises(WireError, match="request: contract version 2 is not known here, version 1 is spoken"):
        decode_request(encode_request(replace(make.cluster(), version=2)))
    with pytest.raises(WireError, match="response: contract version 2"):
        decode_response(encode_response(replace(RESPONSE, version=2)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"executor_port": (1,)}, r"topologies\[0\].executor_port: 1 values where executor_first_task has 8"),
        ({"stream_to": (0,)}, r"topologies\[0\].stream_to: 1 values where stream_from has 8"),
        ({"executor_supervisor": (7,) * 8}, r"topologies\[0\].executor_supervisor\[0\]: 7 is outside -1..6"),
        ({"executor_component": (0,) * 7 + (8,)}, r"executor_component\[7\]: 8 is outside 0..7"),
        ({"executor_supervisor": (0,) * 8}, r"executor_port\[0\]: port -1 does not fit supervisor 0"),
        ({"executor_first_task": (3,) * 8}, r"executor_first_task\[0\]: task range 3-1 is empty"),
        ({"stream_from": (-1,) * 8}, r"stream_from\[0\]: -1 is outside 0..7"),
    ],
)
def test_a_broken_topology_is_refused_with_its_place(make, changes, message):
    """Lists that are not parallel and indices out of range name the field and the position."""
    raw = to_thrift(make.cluster(replace(make.taxi(), **changes)))
    with pytest.raises(WireError, match=message):
        request_from_thrift(raw)


def test_unknown_enumerators_and_missing_fields_are_refused(make):
    """A grouping 99 and a topology without name are refused with their places."""
    raw = to_thrift(make.cluster(make.taxi()))
    raw.topologies[0].stream_groupings[2] = 99
    with pytest.raises(WireError, match=r"topologies\[0\].stream_groupings\[2\]: 99 is no Grouping"):
        request_from_thrift(raw)
    raw.topologies[0].name = None
    with pytest.raises(WireError, match=r"topologies\[0\].name: missing"):
        request_from_thrift(raw)


def test_two_topologies_of_one_id_are_refused(make):
    """Ids are unique within a request."""
    with pytest.raises(WireError, match=r"topologies\[1\].id: 'taxi-1' occurs twice"):
        request_from_thrift(to_thrift(make.cluster(make.taxi(), make.taxi())))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_are_refused_or_decoded_but_nothing_else(make, data):
    """Whatever bytes arrive, decoding ends with a request or a WireError."""
    good = encode_request(make.cluster(make.taxi()))
    position = data.draw(st.integers(0, len(good) - 1))
    damage = data.draw(st.binary(min_size=1, max_size=8))
    for bytes_ in (
        good[:position],
        good[:position] + damage + good[position + len(damage) :],
        os.urandom(64),
    ):
        try:
            decode_request(bytes_)
        except WireError:
            continue


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x0f\x00\x04\x00\x7f\xff\xff\xff\x00", "unknown type 0"),
        (b"\x0f\x00\x04\x08\x7f\xff\xff\xff\x00", "ends too early"),
        (b"\x0b\x00\x02\xff\xff\xff\xff\x00", "negative length"),
        (b"\x0c\x00\x01" * 40, "nested deeper than 16 levels"),
        (b"\x00\x00", "1 bytes follow the end"),
    ],
)
def test_lengths_and_types_are_checked_before_anything_is_decoded(data, message):
    """A list of 2**31 elements that take no bytes is refused at once, as are lengths beyond the data."""
    with pytest.raises(WireError, match=message):
        decode_request(data)


def test_thrift_structs_carry_every_value():
    """The thrift struct of a response has lists and numbers in the places of tuples and enumerators."""
    raw = to_thrift(RESPONSE)
    assert (raw.plans[0].decision, raw.plans[0].executor_port, raw.plans[1].price) == (1, [6700, 6701], None)
