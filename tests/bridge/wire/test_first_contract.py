"""A shim of the first contract is served: optional fields that were added since raise no version.

Its request is in bytes that were written then, see first_contract/README.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import thriftpy2
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.utils import deserialize, serialize

from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings
from bridge.wire.contract import OLDEST_VERSION, VERSION, idl
from bridge.wire.encoding import decode_received, encode_response
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift

FOLDER = Path(__file__).parent / "first_contract"


@pytest.fixture(scope="module")
def first():
    """The first contract, as thriftpy2 loads it."""
    return thriftpy2.load(str(FOLDER / "placement.thrift"), module_name="first_placement_thrift")


@pytest.fixture(scope="module")
def data():
    return (FOLDER / "request.bin").read_bytes()


@pytest.fixture(scope="module")
def response(data):
    """Today's answer to that request."""
    request = decode_received(data).request
    settings = Settings(move=MoveSettings(cool_down_s=0, stabilisation_s=0))
    return plan_round(request, settings, lambda: 0.0).response


def test_the_stored_bytes_are_those_of_the_first_contract(first, data):
    raw = deserialize(first.PlanRequest(), data, TBinaryProtocolFactory())
    assert serialize(raw, TBinaryProtocolFactory()) == data
    assert (raw.version, first.VERSION) == (1, 1)
    assert OLDEST_VERSION <= raw.version <= VERSION


def test_a_request_of_the_first_contract_is_planned(data, response):
    received = decode_received(data)
    assert received.malformed == ()
    request = received.request
    assert [topology.id for topology in request.topologies] == ["new", "partly", "pinned"]
    assert [topology.last_supervisor for topology in request.topologies] == [None] * 3
    assert (request.cluster, request.cluster_json, request.resource_names) == (None, None, ())
    new, partly, pinned = response.plans
    assert new.decision is partly.decision is Decision.ASSIGN
    assert pinned.topology_id == "pinned"
    assert response.version == request.version == 1


def test_todays_answer_is_readable_by_the_first_contract(first, response):
    """What it does not know is skipped; all else is as it was sent."""
    whole = replace(response, hold_ms=60_000)
    sent = to_thrift(whole)
    assert sent.plans[0].price.executors_restarted is not None
    read = deserialize(first.PlanResponse(), encode_response(whole), TBinaryProtocolFactory())
    _same_fields(read, sent)
    assert not hasattr(read, "hold_ms")
    assert not hasattr(read.plans[0].price, "executors_restarted")


def test_a_refusal_is_readable_by_the_first_contract(first):
    """It says why; the versions that it names beside are skipped."""
    refusal = idl.Refused(reason="no", oldest_version=1, newest_version=1)
    data = serialize(refusal, TBinaryProtocolFactory())
    read = deserialize(first.Refused(), data, TBinaryProtocolFactory())
    assert read.reason == "no"
    assert not hasattr(read, "newest_version")


def _same_fields(read, sent):
    """Every field that the first contract knows has the value that was sent."""
    for field in (spec[1] for spec in read.thrift_spec.values()):
        old, new = getattr(read, field), getattr(sent, field)
        if hasattr(old, "thrift_spec"):
            _same_fields(old, new)
        elif isinstance(old, list) and old and hasattr(old[0], "thrift_spec"):
            assert len(old) == len(new)
            for one, other in zip(old, new, strict=True):
                _same_fields(one, other)
        else:
            assert old == new, field
