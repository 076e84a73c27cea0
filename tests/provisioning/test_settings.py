"""Settings of the elastic loop: all faults in one sentence, each with its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from provisioning.settings_file import ElasticSettingsError, load_elastic_settings

if TYPE_CHECKING:
    from pathlib import Path

PROVIDED = (
    '[provider]\nkind = "simulated"\n[offer.small]\ncpu = 4.0\nmemory_mb = 8.0\nslots = 4\n'
    "billing_unit_s = 600.0\nunit_cost = 1.0\n"
)
LEAST = 'state_directory = "state"\n[topology.taxi]\n'
REDIS = '[[topology.taxi.lag]]\nkind = "redis"\naddress = "r:6379"\nkey = "k"\n'
KAFKA = '[[topology.taxi.lag]]\nkind = "kafka"\n'


def load(tmp_path: Path, text: str) -> object:
    path = tmp_path / "elastic.toml"
    path.write_text(text, encoding="utf-8")
    return load_elastic_settings(path)


def test_the_least_file_gives_advice(tmp_path: Path) -> None:
    path = tmp_path / "elastic.toml"
    path.write_text(LEAST, encoding="utf-8")
    settings = load_elastic_settings(path)
    assert settings.topology["taxi"].mode == "advise"
    assert settings.policy.kind == "sized"
    assert settings.provider_settings is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[topology.taxi]\n", "state_directory: missing"),
        ('state_directory = "s"\n', "topology: missing"),
        ("interval = 3\n" + LEAST, "interval: unknown key"),
        ("interval_s = 0\n" + LEAST, "interval_s: must be > 0.0, got 0"),
        (LEAST + 'mode = "on"\n', "topology.taxi.mode: must be 'off', 'advise' or 'active', got 'on'"),
        (LEAST + "[topology.taxi.component.rank]\nmin = 5\nmax = 4\n", "max: must be >= min (5), got 4"),
        (LEAST + '[[topology.taxi.lag]]\nkind = "redis"\naddress = "r"\nkey = "k"\n', "'r' is not HOST:PORT"),
        (LEAST + KAFKA + 'bootstrap = ["k"]\ntopics = ["t"]\ngroup = "g"\n', "'k' is not HOST:PORT"),
        (LEAST + KAFKA + 'bootstrap = ["k:1"]\ntopics = []\ngroup = "g"\n', "topics: "),
        (LEAST + KAFKA + 'bootstrap = ["k:1"]\ntopics = ["t"]\n', "group: missing"),
        (
            LEAST
            + KAFKA
            + 'bootstrap = ["k:1"]\ntopics = ["t"]\ngroup = "g"\nsecurity = { client_id = "c" }\n',
            "security: client_id: must begin with security_, sasl_, ssl_",
        ),
        (LEAST + '[[topology.taxi.lag]]\nkind = "files"\n', "lag"),
        (
            LEAST + "".join(f'{REDIS}spout = "{each}"\n' for each in ("rows", "lines")),
            "topology.taxi: lag: all tables must name the same spout",
        ),
        (LEAST + "[offer.small]\ncpu = 1\n", "offer.small"),
        (LEAST + '[provider]\nkind = "simulated"\n', "at least one table [offer.NAME] is needed"),
        (LEAST + '[provider]\nkind = "cloud"\n', "provider"),
        (
            LEAST + '[policy]\nkind = "learned"\n',
            "policy.kind: must be 'sized', 'btu', 'threshold' or 'layers'",
        ),
        (LEAST + "[policy.parameters]\nkeep = 3\n", "policy.parameters.keep: unknown key"),
        (LEAST + "[policy.parameters]\ndrain_s = 0\n", "policy.parameters.drain_s: expected a number > 0"),
        (LEAST + "[limits]\nhosts_min = 3\nhosts_max = 2\n" + PROVIDED, "limits.hosts_max: expected"),
    ],
)
def test_faults_are_named(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ElasticSettingsError) as caught:
        load(tmp_path, text)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "elastic.toml"))
    assert "\n" not in str(caught.value)


def layers(*lines: str, more: str = "") -> str:
    text = [LEAST, "[policy]", 'kind = "layers"', "[policy.parameters]", *lines]
    return "\n".join(text) + "\n" + more


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ((), "response_max_ms: missing"),
        (("response_max_ms = { other = 3 }",), "response_max_ms.taxi: missing"),
        (("response_max_ms = 0",), "response_max_ms: expected a number > 0, got 0"),
        (
            ("response_max_ms = 9", 'operators = "oracle"'),
            'operators: expected "threshold" or',
        ),
        (
            ("response_max_ms = 9", 'hosts = "none"'),
            'hosts: expected "idle-pool" or',
        ),
        (("response_max_ms = 9", "pause_s = -1"), "pause_s: expected a number >= 0, got -1"),
        (("response_max_ms = 9", "rate_max = 0"), "rate_max: expected a number > 0, got 0"),
        (("response_max_ms = 9", "operator = 3"), "operator: expected a table, got 3"),
        (("response_max_ms = 9", "operator.tasks = 3"), "operator.tasks: unknown key"),
        (("response_max_ms = 9", "operator.weights.best = 1"), "operator.weights.best: unknown key"),
        (("response_max_ms = 9", "operator.weights = 1"), "operator.weights: expected a table, got 1"),
        (("response_max_ms = 9", "operator.weights.resources = 1"), "operator.weights: expected a sum of 1"),
        (("response_max_ms = 9", "operator.season.slot_s = 7"), "operator.season.slot_s: expected a whole"),
        (("response_max_ms = 9", "region.idle_hosts = 0.5"), "region.idle_hosts: expected a whole number"),
        (
            (
                "response_max_ms = 9",
                "pause_s = 60",
                "operator.weights = " + "{ performance = 0.6, reconfiguration = 0.2, resources = 0.2 }",
            ),
            "operator.weights: reconfiguration 0.2 has to be at least 0.6 (performance for the time"
            " of a pause), or pauses are free",
        ),
        (
            ("response_max_ms = 9", 'operators = "rolling"', "operator.horizon_s = 60"),
            "operator.weights: reconfiguration with its pause, 0.5, has to be below 0.333333 (what one"
            " executor costs until the horizon), or none is ever given back",
        ),
    ],
)
def test_parameters_of_managers_are_checked_at_the_start(
    lines: tuple[str, ...], fault: str, tmp_path: Path
) -> None:
    """Also conditions between weights, as far as no number of tasks could mend them."""
    with pytest.raises(ElasticSettingsError) as caught:
        load(tmp_path, layers(*lines))
    assert f"policy.parameters.{fault}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_of_hosts_needs_their_largest_number(tmp_path: Path) -> None:
    lines = ("response_max_ms = 9", 'hosts = "model-based"')
    with pytest.raises(
        ElasticSettingsError, match=r'limits\.hosts_max: missing, which hosts = "model-based" needs'
    ):
        load(tmp_path, layers(*lines, more=PROVIDED))
    load(tmp_path, layers(*lines, more=PROVIDED + "[limits]\nhosts_max = 5\n"))
    load(tmp_path, layers(*lines, more=PROVIDED + "[limits]\nbudget_per_hour = 5.0\n"))
    load(tmp_path, layers(*lines, more=PROVIDED + "[limits.hosts_max_of]\nsmall = 5\n"))
    with pytest.raises(ElasticSettingsError, match="hosts_max: missing"):
        load(tmp_path, layers(*lines, more=PROVIDED + "[limits.hosts_max_of]\nanother = 5\n"))
    load(tmp_path, layers(*lines))
