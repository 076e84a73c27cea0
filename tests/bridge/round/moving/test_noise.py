"""Gains that may be noise of availabilities and rates move nothing where noise is asked for."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bridge.round.round_data import gather_data
from bridge.settings import Settings
from bridge.wire.messages import Decision
from tests.bridge.round.moving.priced_rounds import market, planned, rates

UP = {"cheap": 0.9, "dear": 0.8, "far": 0.8}
AVAILABILITY = {"weights": {"availability": 1.0}}


def with_outages(make, count):
    """The market of hosts that are up for different parts of the time, after so many outages each."""
    request = market(make, AVAILABILITY)
    readings = []
    for each in request.readings:
        payload = json.loads(each.payload) | {"availability": UP[each.name]}
        if count is not None:
            payload["outages"] = {"count": count, "last_s": 60.0}
        readings.append(replace(each, payload=json.dumps(payload).encode()))
    return replace(request, readings=tuple(readings))


@pytest.mark.parametrize(
    ("count", "error"),
    [(None, 0.0), (0.0, 0.0), (0.5, np.sqrt(2.0)), (8.0, 0.5), (200.0, 0.1)],
)
def test_the_error_of_an_availability_follows_from_the_number_of_outages(make, count, error):
    """Of the time that a host was down; exact where none was counted."""
    data = gather_data(with_outages(make, count), Settings())
    down = 1.0 - np.array([UP[host.name] for host in data.hosts.hosts])
    assert data.availability_error.tolist() == pytest.approx((down * error).tolist())


@pytest.mark.parametrize(("count", "moves"), [(None, True), (200.0, True), (2.0, False)])
def test_a_gain_in_availability_has_to_be_above_the_noise_of_few_outages(make, count, moves):
    """Twice as often down after two outages each may be chance; after two hundred it is not."""
    request = with_outages(make, count)
    plan = planned(request, noise_sigmas=2.0)[1]
    assert (plan.decision is Decision.ASSIGN) is moves
    assert moves or "the gain of the best candidate may be noise of the measured readings" in plan.status
    assert planned(request)[1].decision is Decision.ASSIGN


@pytest.mark.parametrize(("rate", "moves"), [(100.0, True), (0.001, False)])
def test_a_gain_in_traffic_has_to_be_above_the_noise_of_what_was_counted(make, rate, moves):
    """A stream of which one tuple was counted in ten minutes may as well be none."""
    request = market(make, {"weights": {"inter_node_traffic": 1.0}}, ("dear", "far"))
    request = replace(request, readings=(*request.readings, rates([1.0, 1.0], rate=rate)))
    assert (planned(request, noise_sigmas=2.0)[1].decision is Decision.ASSIGN) is moves
    assert planned(request)[1].decision is Decision.ASSIGN
