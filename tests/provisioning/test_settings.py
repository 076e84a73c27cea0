"""Settings of the elastic loop: all faults in one sentence, each with its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from provisioning.settings_file import ElasticSettingsError, load_elastic_settings

if TYPE_CHECKING:
    from pathlib import Path

LEAST = 'state_directory = "state"\n[topology.taxi]\n'
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
        (LEAST + "[offer.small]\ncpu = 1\n", "offer.small"),
        (LEAST + '[provider]\nkind = "simulated"\n', "at least one table [offer.NAME] is needed"),
        (LEAST + '[provider]\nkind = "cloud"\n', "provider"),
        (LEAST + '[policy]\nkind = "learned"\n', "policy.kind: must be 'sized', 'btu' or 'threshold'"),
    ],
)
def test_faults_are_named(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ElasticSettingsError) as caught:
        load(tmp_path, text)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "elastic.toml"))
    assert "\n" not in str(caught.value)
