"""Messages pass through bytes unchanged, and whatever breaks the contract is refused with its place."""

from __future__ import annotations

import os
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.wire import messages
from bridge.wire.contract import VERSION, VersionError, WireError, idl
from bridge.wire.encoding import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from bridge.wire.messages import Decision, PlanResponse, Price, TopologyPlan
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


@pytest.mark.parametrize("cluster", [None, "zk-1:2181/storm"])
def test_the_name_of_the_cluster_is_optional(make, cluster):
    """Shims that name none, and records of theirs, are as good as ever."""
    request = replace(make.cluster(), cluster=cluster)
    assert decode_request(encode_request(request)) == request


def test_a_field_of_a_later_version_is_skipped(make):
    """Whoever adds one does not lose the readers that do not know it: a text as field 99 of the request."""
    data = encode_request(make.cluster(make.taxi()))
    later = data[:-1] + b"\x0b\x00\x63\x00\x00\x00\x03new" + data[-1:]
    assert decode_request(later) == make.cluster(make.taxi())


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
    """Request and response of version 2 are refused with the versions that are spoken."""
    with pytest.raises(VersionError, match="request: contract version 2 is not known here, versions 1 to 1"):
        decode_request(encode_request(replace(make.cluster(), version=2)))
    with pytest.raises(VersionError, match="response: contract version 2"):
        decode_response(encode_response(replace(RESPONSE, version=2)))


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
