"""Parameters of each policy in the experiment: what a minute is for a cluster is seconds here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
    from experiments.lab_elasticity.variants import VariantTurn

DECIDE_EVERY_S = 10.0
BTU_EVERY_S = 20.0
"""Those who change in every round stand still for most of the time, and those who do so seldom are late."""
AHEAD_S = 30.0
"""How far the trend is followed at least."""
KEEP_PEAK_S = 20.0
"""For how long the highest demand counts; what is measured is a mean of as long already."""
LEAD_S = 45.0
"""Within so long before the end of its paid time a host is judged: its executors have to leave by then."""
PENALTY = 0.0005
"""Cost of a late item, where a host's billing unit costs 1."""
SIZED_LOAD = 0.88
"""Share of their time for which executors are busy that `sized` sizes for; what it gets wrong it can mend."""
PAUSE_S = 10.0
"""Of a change, for managers that weigh it against periods of `DECIDE_EVERY_S`."""


def policy_parameters(
    settings: LabElasticitySettings, turn: VariantTurn, boot_s: float
) -> Mapping[str, object]:
    """Return the table `policy.parameters` of a turn.

    Intervals and steps of `btu`, `threshold` and `model-based` were chosen on the simulator with such loads
    (`experiments/elasticity/scenarios/pauses.toml`), pauses of 5 and 8 s, and intervals from 10 to 60 s. So
    were how long `sized` keeps a peak and looks ahead: pauses from 5 to 12.5 s, three loads that it aims at.

    Args:
        settings: Of the experiment.
        turn: Which one.
        boot_s: What a host takes to boot, s.
    """
    common: dict[str, object] = {"decide_interval_s": DECIDE_EVERY_S}
    paid: dict[str, object] = {"penalty": PENALTY, "release_lead_s": min(LEAD_S, settings.billing_unit_s)}
    managers: dict[str, object] = {
        "operators": _text(turn.decides),
        "response_max_ms": settings.bound_s * 1000.0,
        "pause_s": PAUSE_S,
        "region_period_s": max(boot_s, DECIDE_EVERY_S),
    }
    own = {
        "threshold": {},
        # three rounds, as in its authors' program
        "btu": paid | {"decide_interval_s": BTU_EVERY_S, "cooldown_s": 3.0 * BTU_EVERY_S},
        "sized": paid
        | {
            "keep_peak_s": KEEP_PEAK_S,
            "trend_s": 90.0,
            "target_load": SIZED_LOAD,
            "ahead_s": AHEAD_S,
        },
        # each of many executors has to weigh enough for one less to be worth a pause as long as a period, and
        # being late still more than all that the peak needs
        "model-based": managers
        | {
            "rate_max": settings.peak_rate,
            "operator.steps": 3,
            "operator.discount": 0.98,
            "operator.weights": "{ performance = 0.2, reconfiguration = 0.2, resources = 0.6 }",
        },
        "rolling": managers
        | {
            "operator.horizon_s": 3600.0,
            "operator.weights": "{ performance = 0.5, reconfiguration = 0.05, resources = 0.45 }",
        },
    }[turn.decides]
    return common | own


def _text(value: str) -> str:
    return json.dumps(value)  # a basic string of TOML is one of JSON
