"""Small topologies of large rounds go by the fair shares of executors of the whole cluster."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.wire.messages import UNASSIGNED, Decision

WIDE = Settings(network=NetworkSettings(max_hosts=2))
PORTS = (1, 2, 3)


def _request(make, *topologies, stated):
    """Hosts h0, h1 and so on, with a number of executors each, None where one states none."""
    hosts = {f"h{place}": number for place, number in enumerate(stated)}
    return replace(
        make.cluster(*topologies),
        supervisors=tuple(
            make.supervisor(
                host, ports=PORTS, meta={} if number is None else {"stormplace.executors": str(number)}
            )
            for host, number in hosts.items()
        ),
        readings=tuple(make.reading(host, "s0", float(place)) for place, host in enumerate(hosts)),
    )


def _running(make, name, where, port, pin=None):
    topology = make.chain(name, (1, len(where) - 1), [0])
    return replace(
        topology,
        settings_json=json.dumps({"topology.stormplace.pin": pin} if pin else {}),
        executor_supervisor=where,
        executor_port=tuple(UNASSIGNED if host == UNASSIGNED else port for host in where),
        num_workers=1,
    )


@pytest.mark.parametrize("others", [3, 4, 9])
def test_a_broken_pin_is_mended_at_a_host_whose_fair_share_is_used(make, others):
    """It is a wish: four are the share of each of these hosts, one by core."""
    full = _running(make, "full", (2,) * others, 1)
    broken = _running(make, "broken", (0, 0, 0), 2, pin={"c0": "host:h2", "c1": "host:h2"})
    done = plan_round(_request(make, full, broken, stated=(9, 9, None)), WIDE, lambda: 0.0)
    assert done.traces == ()
    plan = done.response.plans[1]
    assert plan.decision is Decision.ASSIGN, plan.status
    assert plan.executor_supervisor == (2, 2, 2)


def test_a_broken_pin_to_a_host_that_states_a_number_waits_for_room(make):
    full = _running(make, "full", (2,) * 4, 1)
    broken = _running(make, "broken", (0, 0, 0), 2, pin={"c0": "host:h2", "c1": "host:h2"})
    done = plan_round(_request(make, full, broken, stated=(9, 9, 4)), WIDE, lambda: 0.0)
    assert done.traces == ()
    assert done.response.plans[1].decision is Decision.KEEP


def test_a_broken_pin_to_a_site_is_mended_where_the_fair_share_is_not_used(make):
    """Both hosts are at the site; the first one is full by the share of the whole cluster."""
    full = _running(make, "full", (1,) * 4, 1)
    broken = _running(make, "broken", (0, 0, 0), 2, pin={"c0": "site:s1", "c1": "site:s1"})
    request = _request(make, full, broken, stated=(9, None, None))
    request = replace(
        request,
        readings=tuple(
            make.reading(host, site, 0.0) for host, site in (("h0", "s0"), ("h1", "s1"), ("h2", "s1"))
        ),
    )
    done = plan_round(request, WIDE, lambda: 0.0)
    assert done.traces == ()
    assert done.response.plans[1].executor_supervisor == (2, 2, 2)


def test_what_is_missing_goes_where_others_leave_a_share(make):
    """Beside what runs there is nothing left of the share; no plan is given up for it."""
    full = _running(make, "full", (1,) * 4, 1)
    missing = _running(make, "missing", (1, UNASSIGNED, UNASSIGNED), 2)
    done = plan_round(_request(make, full, missing, stated=(9, None, None)), WIDE, lambda: 0.0)
    assert done.traces == ()
    plan = done.response.plans[1]
    assert plan.status.startswith("placed by ils (auto)")
    assert plan.executor_supervisor[0] == 1
    assert 1 not in plan.executor_supervisor[1:]


def test_supervisors_of_a_host_with_different_room_contradict_each_other_in_nothing(make):
    """What the status counts as faults is what hosts state, not what is left of it."""
    full = _running(make, "full", (1,) * 2, 1)
    missing = _running(make, "missing", (0, UNASSIGNED, UNASSIGNED), 2)
    request = _request(make, full, missing, stated=(None, None, None))
    second = replace(request.supervisors[1], id="second")
    request = replace(request, supervisors=(*request.supervisors, second))
    plan = plan_round(request, WIDE, lambda: 0.0).response.plans[1]
    assert plan.status.startswith("placed by ils (auto)")
    assert "several values" not in plan.status
