"""The settings file of the elastic loop of a turn."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from experiments.lab_elasticity.policy_parameters import policy_parameters
from experiments.lab_elasticity.variants import SIZED

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
    from experiments.lab_elasticity.variants import VariantTurn

INTERVAL_S = 5.0
BOOT_S = 6.0
"""What the lab takes until Nimbus knows a host."""
WINDOW_S = 20.0
SETTLE_S = 5.0
CHANGES_PER_HOUR = 120


def loop_settings(settings: LabElasticitySettings, turn: VariantTurn, folder: Path, lab_folder: Path) -> str:
    """Return the text of the settings file, TOML.

    Args:
        settings: Of the experiment.
        turn: Which one.
        folder: Where the loop keeps what it remembers.
        lab_folder: State folder of the lab.
    """
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
        *(f"{key} = {value}" for key, value in policy_parameters(settings, turn, BOOT_S).items()),
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
