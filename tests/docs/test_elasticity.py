"""The scenario in docs/elasticity.md is one, and its policies run."""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from experiments.elasticity.asked import Asked
from experiments.elasticity.scenario import Scenario
from experiments.elasticity.simulation import simulate
from formats.address import Address
from provisioning.measuring.task_meters import EMITTED, EXECUTE_MS, EXECUTED, OVERFLOW, POPULATION, PROCESS_MS
from provisioning.settings import ElasticSettings
from scheduler.elasticity.leasing.kinds import KINDS
from topologies.graphite_reporter import reporting_to

GUIDE = (Path(__file__).parents[2] / "docs" / "elasticity.md").read_text(encoding="utf-8")


def test_the_sources_of_the_guide() -> None:
    guide = GUIDE.replace("/etc/kafka/ca.pem", __file__)  # a file that there is
    found = [
        ElasticSettings.model_validate({"state_directory": "s", **tomllib.loads(textwrap.dedent(block))})
        for block in re.findall(r"(?<=\n\n)(    \[\[topology\.\w+\.lag\]\]\n(?:    .*\n)*)", guide)
    ]
    kinds = [each.kind for settings in found for one in settings.topology.values() for each in one.lag]
    assert kinds == ["redis", "kafka"]


OFFER = {"small": {"cpu": 400, "memory_mb": 8192, "slots": 4, "billing_unit_s": 600, "unit_cost": 1}}


def settings(first_line: str, **more: object) -> ElasticSettings:
    """Return the settings of the block that begins so, up to what the guide leaves out."""
    (block,) = re.findall(rf"\n\n(    {re.escape(first_line)}.*\n(?:    .*\n|\n(?=    ))*)", GUIDE)
    stated, _, _ = block.partition("    [provider]")
    table = {"state_directory": "s", **tomllib.loads(textwrap.dedent(stated)), **more}
    return ElasticSettings.model_validate(table)


def test_the_settings_of_the_guide() -> None:
    """First advice, then a topology that is scaled; and managers instead of `sized`."""
    advised = settings("nimbus = ")
    assert [each.mode for each in advised.topology.values()] == ["advise"]
    active = settings("[topology.taxi]\n    mode", provider={"kind": "simulated"}, offer=OFFER)
    assert active.topology["taxi"].mode == "active"
    assert (active.topology["taxi"].component["rank"].max, active.limits.hosts_max) == (24, 40)
    layers = settings('[policy]\n    kind = "layers"', topology={"taxi": {"mode": "active"}})
    assert layers.policy.parameters["operators"] == "rolling"


def scenario() -> Scenario:
    (block,) = re.findall(r"\n\n((?:    .*\n|\n)*    \[\[component\]\]\n(?:    .*\n|\n)*)", GUIDE)
    return Scenario.model_validate(tomllib.loads(textwrap.dedent(block)))


@pytest.mark.parametrize("policy", [*KINDS, "careful"])
def test_the_scenario_of_the_guide(policy: str) -> None:
    assert simulate(scenario(), Asked(policy, "steps", "10-minutes")).items > 0


def test_the_guide_names_every_policy() -> None:
    for name in KINDS:
        assert f"| `{name}` |" in GUIDE


def test_what_workers_report_is_what_the_guide_says() -> None:
    """And what the loop takes: lengths of queues, counts and latencies, of some hundred others none."""
    (reporter,) = reporting_to(Address("127.0.0.1", 2003))["topology.metrics.reporters"]  # type: ignore[misc, attr-defined, unused-ignore]  # values are of any kind
    expression = reporter["filter"]["expression"]
    assert f'expression: "{expression}"' in GUIDE
    counted = [f"{each}spout:default" for each in (EXECUTED, EMITTED, EXECUTE_MS, PROCESS_MS)]
    read = [POPULATION, OVERFLOW, *counted]
    others = ["receive-queue-capacity", "__transfer-count-default", "__ack-count-spout:default"]
    worker = "storm.worker.words-1-1.h.b.7.6700-"
    assert [each for each in (*read, *others) if re.fullmatch(expression, worker + each)] == read
