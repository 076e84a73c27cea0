"""Settings of the experiment, of the loop in it, and what the command refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from cli.experiment.experiment_elasticity import DATA
from experiments.errors import ExperimentError
from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
from experiments.lab_elasticity.lab_elasticity_turn import kills, missing_tasks
from experiments.lab_elasticity.loop_settings import loop_settings
from experiments.lab_elasticity.variants import VariantTurn, turns
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from provisioning.settings_file import load_elastic_settings
from scheduler.elasticity.layers.kinds import POLICIES
from scheduler.elasticity.layers.one_pool.basis import Basis, PartBasis
from scheduler.elasticity.layers.one_pool.parameters import OnePoolParameters
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Offer

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = LabElasticitySettings(
    data=DATA,
    sites=BY_NAME["sleeping"].sites,
    workload="sleeping",
    load="steps",
    run_s=360.0,
    warm_up_s=30.0,
    unit_rate=5.0,
    bound_s=10.0,
    billing_unit_s=120.0,
    kills=3,
    seed=1,
    settle_s=0.0,
)

SCALED = BY_NAME["sleeping"].scaled


def test_the_peak_has_room_on_the_hosts_of_the_site_file() -> None:
    assert SETTINGS.fixed == ("near-1", "near-2")
    assert len(SETTINGS.spare) == 6
    assert SETTINGS.static_hosts == 5
    with pytest.raises(ExperimentError, match="the peak needs 13 hosts"):
        _ = replace(SETTINGS, unit_rate=15.0).site_file
    with pytest.raises(ExperimentError, match="the first rate needs 3 hosts, and 2 of"):
        _ = replace(SETTINGS, unit_rate=9.0).site_file


@pytest.mark.parametrize("policy", ["sized", "btu", "threshold", "model-based", "rolling", "static"])
def test_the_loop_takes_its_settings(tmp_path: Path, policy: str) -> None:
    path = tmp_path / "elastic.toml"
    turn = VariantTurn(policy, 1)  # type: ignore[arg-type]
    path.write_text(loop_settings(SETTINGS, turn, tmp_path / "state", tmp_path / "lab"), encoding="utf-8")
    found = load_elastic_settings(path)
    assert found.policy.kind == turn.kind
    assert found.topology["sleeping"].mode == ("advise" if policy == "static" else "active")
    assert found.topology["sleeping"].lag[0].key == f"sleeping:{policy}-1:waiting"
    assert found.topology["sleeping"].component["sink"].max == 1
    slo_ms = 5000.0 if policy in {"sized", "static"} else 1000.0
    assert found.topology["sleeping"].component["parse"].slo_ms == slo_ms
    parameters = POLICIES[turn.kind].parameters_of(
        tuple(Component(f"sleeping/{each.name}", 1000.0, 1.0, 1.0, 1, 120, 120) for each in SCALED),
        Offer(6.0, 6.0, 120.0, 1.0),
        found.policy.parameters,
    )
    assert parameters.decide_interval_s == (20.0 if policy == "btu" else 10.0)
    if isinstance(parameters, OnePoolParameters):
        # weights are refused by what the peak needs once service times are known
        known = tuple(PartBasis(f"sleeping/{each.name}", each.service_ms, 1.0) for each in SCALED)
        assert parameters.layers({"sleeping": Basis(known, {})}).operators[0].manager is not None


def test_kills_come_at_the_same_random_moments_for_one_seed() -> None:
    moments = [each.at_s for each in kills(SETTINGS)]
    assert moments == [each.at_s for each in kills(SETTINGS)]
    assert moments == sorted(moments)
    assert len(moments) == 3
    assert all(30.0 + 36.0 <= each <= 30.0 + 324.0 for each in moments)
    assert [each.at_s for each in kills(replace(SETTINGS, seed=2))] != moments


def test_a_task_that_no_executor_has_is_missing() -> None:
    executors = [
        {"component": "parse", "first_task": 1, "last_task": 120},
        {"component": "report", "first_task": 121, "last_task": 238},
        {"component": "sink", "first_task": 241, "last_task": 241},
    ]
    text = str({"executors": executors}).replace("'", '"')
    assert missing_tasks(text, SCALED) == {"report": 2}


def test_turns_are_all_policies_unless_some_are_named() -> None:
    names = ["static", "sized", "btu", "threshold", "model-based", "rolling"]
    assert [each.label for each in turns(None, 1)] == [f"{name}-1" for name in names]
    assert [each.label for each in turns("sized", 2)] == ["sized-1", "sized-2"]


def test_what_cannot_be_run_is_refused_with_its_option(tmp_path: Path) -> None:
    """Before any lab starts."""
    for options, message in (
        (["--policies", "best"], "--policies: 'best' is not one of static"),
        (["--workload", "none"], "--workload: 'none' is not one of sleeping, taxi"),
        (["--load", "flat"], "--load: 'flat' is not one of steps"),
        (["--data", "nowhere.toml"], "--data: no such file: nowhere.toml"),
        (["--sites", str(SETTINGS.sites.parent / "demo.toml")], "no [[host]] has joined = false"),
        (["--unit-rate", "15"], "--unit-rate: the peak needs 13 hosts"),
    ):
        result = CliRunner().invoke(app, ["experiment", "elasticity", "--out", str(tmp_path / "o"), *options])
        assert isinstance(result.exception, UserError)
        assert message in str(result.exception)
        assert result.exception.status == 2
    assert not (tmp_path / "o").exists()
