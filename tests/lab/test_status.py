from __future__ import annotations

import json

from lab.status import HostStatus, LabStatus, ServiceStatus


def test_a_status_survives_its_journey_as_json() -> None:
    """What the keeper says is what the client reads."""
    status = LabStatus(
        state="degraded",
        scheduler="even",
        pending=("Redis",),
        services=(ServiceStatus("redis", "redis", "waiting", None, 2, "signal SIGKILL"),),
        hosts=(HostStatus("a-1", "supervisor", "a", "10.77.1.1", 7, 2, 1, agent=True),),
        delays_ms=(("a", "b", 7.0),),
        isolated=("b",),
        packets=(("delivered", 3),),
        links=(("uplink of a", 300, 1),),
    )
    read = LabStatus.from_json(json.loads(json.dumps(status.to_json())))
    assert read == status
    assert read.host("a-1") is not None
    assert read.host("a-2") is None
