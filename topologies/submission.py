"""What submitting any topology of ours has in common: defaults, pins, the jar, how components start."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topologies import nimbus
from topologies.jar import write_jar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.address import Address

PIN_KEY = "topology.stormplace.pin"
ACKERS_KEY = "topology.acker.executors"
WORKERS_KEY = "topology.workers"

_DEFAULTS: Mapping[str, object] = {
    WORKERS_KEY: 4,
    # a lost tuple is noticed without them: the taxi queries guard their own batches, synthetic runs count
    ACKERS_KEY: 0,
    "topology.eventlogger.executors": 0,
    # for schedulers that count CPU: two executors fill a host of one core
    "topology.component.cpu.pcore.percent": 50.0,
    "topology.message.timeout.secs": 60,
    # a component silent for so long takes its worker down; generous, as test machines are busy
    "topology.subprocess.timeout.secs": 120,
    "topology.stats.sample.rate": 1.0,
}


def base_configuration(workers: int | None, pins: Mapping[str, str]) -> dict[str, object]:
    """Return the configuration that a topology begins with.

    Args:
        workers: Worker slots to ask for; None leaves the default.
        pins: Where components must run: `{component: "site:NAME" | "host:NAME"}`.
    """
    conf = dict(_DEFAULTS)
    if workers is not None:
        conf[WORKERS_KEY] = workers
    if pins:
        conf[PIN_KEY] = dict(pins)
    return conf


def component_command(python_env: Path) -> Path:
    """Return the program that starts a component on a worker.

    An absolute path: a bare name would depend on the PATH of the worker's JVM.

    Args:
        python_env: Environment of the workers' Python, the same absolute path on every host.
    """
    return python_env / "bin" / "streamparse_run"


def deliver(address: Address, name: str, conf: Mapping[str, object], topology: Any, python_env: Path) -> None:
    """Upload the jar and submit.

    Args:
        address: Nimbus' Thrift port.
        name: Name of the topology.
        conf: Its configuration.
        topology: Storm's structure, whose components run `component_command(python_env)`.
        python_env: As for `component_command`.

    Raises:
        nimbus.NimbusError: Nimbus cannot be reached or refuses.
        FileNotFoundError: The Python environment has no `streamparse_run`; Nimbus was not asked.
    """
    command = component_command(python_env)
    if not command.is_file():
        msg = f"{command} does not exist: name an environment that has streamparse"
        raise FileNotFoundError(msg)
    with tempfile.TemporaryDirectory() as folder, nimbus.connect(address) as client:
        jar = Path(folder) / "topology.jar"
        write_jar(jar)
        nimbus.submit(client, name, jar, conf, topology)
