"""The settings file of the elastic loop of a turn."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from experiments.lab_elasticity.variants import SIZED

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
    from experiments.lab_elasticity.variants import VariantTurn

INTERVAL_S = 5.0
DECIDE_EVERY_S = 10.0
BOOT_S = 6.0
"""What the lab takes until Nimbus knows a host."""
AHEAD_S = 20.0
"""How far the trend is followed at least."""
LEAD_S = 45.0
"""Within so long before the end of its paid time a host is judged: its executors have to leave by then."""
WINDOW_S = 20.0
SETTLE_S = 5.0
PENALTY = 0.0005
"""Cost of a late item, where a host's billing unit costs 1."""
CHANGES_PER_HOUR = 120
SIZED_LOAD = 0.85
"""Share of their time for which executors are busy that `sized` sizes for; what it gets wrong it can mend."""
QUEUE_DOUBLE = 250.0
"""Items in front of a component from which on `btu` starts two executors, as in its authors' program."""
PAUSE_S = 10.0
"""Of a change, for managers that weigh it against periods of `DECIDE_EVERY_S`."""


def loop_settings(settings: LabElasticitySettings, turn: VariantTurn, folder: Path, lab_folder: Path) -> str:
    """Return the text of the settings file, TOML.

    Args:
        settings: Of the experiment.
        turn: Which one.
        folder: Where the loop keeps what it remembers.
        lab_folder: State folder of the lab.
    """
    common: dict[str, object] = {"decide_interval_s": DECIDE_EVERY_S}
    paid: dict[str, object] = {"penalty": PENALTY, "release_lead_s": min(LEAD_S, settings.billing_unit_s)}
    managers: dict[str, object] = {
        "operators": _text(turn.decides),
        "response_max_ms": settings.bound_s * 1000.0,
        "pause_s": PAUSE_S,
        "region_period_s": max(BOOT_S, DECIDE_EVERY_S),
    }
    own = {
        "threshold": {},
        # as its authors' program has it, which is better than the text: two executors at once for long
        # queues, and for three rounds after it has grown a component loses none
        "btu": paid | {"cooldown_s": 3.0 * DECIDE_EVERY_S, "queue_double": QUEUE_DOUBLE},
        # a minute of the experiment is a quarter of an hour of a day
        "sized": paid | {"keep_peak_s": 60.0, "trend_s": 90.0, "target_load": SIZED_LOAD, "ahead_s": AHEAD_S},
        # each of many executors has to weigh enough for one less to be worth a pause as long as a period, and
        # being late still more than all that the peak needs
        "model-based": managers
        | {
            "rate_max": settings.peak_rate,
            "operator.discount": 0.98,
            "operator.weights": "{ performance = 0.2, reconfiguration = 0.2, resources = 0.6 }",
        },
        "rolling": managers
        | {
            "operator.horizon_s": 3600.0,
            "operator.weights": "{ performance = 0.5, reconfiguration = 0.05, resources = 0.45 }",
        },
    }[turn.decides]
    program = [sys.executable, "-m", "cli.main"]
    workload = settings.scaled
    name = workload.name
    lines = [
        f"nimbus = {_text('nimbus:6627')}",
        f"zookeeper = {_text('nimbus:2181')}",
        f"state_directory = {_text(str(folder))}",
        'capacity = "executors"',
        f"executors_per_host = {settings.executors_per_host}",
        f"interval_s = {INTERVAL_S}",
        f"window_s = {WINDOW_S}",
        f"settle_s = {SETTLE_S}",
        "",
        f"[topology.{name}]",
        f"mode = {_text('active' if turn.elastic else 'advise')}",
        "",
        f"[[topology.{name}.lag]]",
        *(f"{key} = {json.dumps(value)}" for key, value in workload.lag(turn.label).items()),
        "",
    ]
    for single, service_ms in workload.single_ms.items():
        lines += [f"[topology.{name}.component.{single}]", "max = 1", f"service_ms = {service_ms}", ""]
    for each in workload.scaled:
        lines += [f"[topology.{name}.component.{each.name}]", f"max = {each.tasks}"]
        if each.stated:
            lines.append(f"service_ms = {each.service_ms}")
        if turn.decides == SIZED:
            # by which advice counts what is late; `btu` acts by it, and has a second as everywhere
            lines.append(f"slo_ms = {settings.bound_s * 1000.0 / len(workload.scaled)}")
        lines.append("")
    lines += [
        "[policy]",
        f"kind = {_text(turn.kind)}",
        "",
        "[policy.parameters]",
        *(f"{key} = {value}" for key, value in (common | own).items()),
        "",
        "[limits]",
        f"reconfigurations_per_hour = {CHANGES_PER_HOUR}",
        f"hosts_min = {len(settings.fixed)}",
        f"hosts_max = {len(settings.site_file.hosts)}",
        "",
        "[provider]",
        'kind = "lab"',
        f"sites = {_text(str(settings.sites.resolve()))}",
        f"folder = {_text(str(lab_folder))}",
        f"program = {json.dumps(program)}",
        "",
        "[offer.small]",
        "cpu = 100.0",
        "memory_mb = 4096.0",
        f"slots = {settings.executors_per_host}",
        f"billing_unit_s = {float(settings.billing_unit_s)}",
        "unit_cost = 1.0",
        f"boot_s = {BOOT_S}",
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    return json.dumps(value)  # a basic string of TOML is one of JSON
