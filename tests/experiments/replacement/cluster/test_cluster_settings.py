"""The experiment's data: instance, site file, and what is asked of each variant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.errors import ExperimentError
from experiments.replacement.cluster.chain_turn import describe
from experiments.replacement.cluster.cluster_settings import ReplacementSettings
from experiments.replacement.cluster.lab_changes import changes
from experiments.replacement.cluster.variants import DRAIN, DYNAMIC, VariantTurn, turns
from tests.experiments.replacement.cluster.made import CHAIN, SITES

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = ReplacementSettings(
    CHAIN, SITES, run_s=340.0, still_s=150.0, drain_s=400.0, warm_up_s=10.0, settle_s=0.0
)


def test_site_file_and_instance_say_the_same_of_hosts() -> None:
    """Prices, speed-ups, loading rates, processors and delays stand in both: the daemon reads one of them."""
    network = SETTINGS.problem.network
    sites = SETTINGS.site_file
    for node in network.nodes:
        own = sites.own(node.name)
        assert float(own.meta["stormplace.cost"]) == node.cost
        assert float(own.meta["stormplace.speedup"]) == node.speedup
        assert float(own.meta["stormplace.pull.mb.per.sec"]) == node.pull_mb_per_s
        assert own.storm["supervisor.cpu.capacity"] == 100.0 * node.capacity["vcpu"]
    for one, u in enumerate(network.nodes):
        for other, v in enumerate(network.nodes):
            if one != other:
                between_ms = sites.between_ms(sites.hosts[u.name], sites.hosts[v.name])
                assert network.delay_ms[one, other] == between_ms


def test_the_late_host_joins_at_two_fifths_of_the_run() -> None:
    (join,) = changes(SETTINGS, DYNAMIC)
    assert (join.kind, join.place, join.at_s) == ("join", "fog-2", 10.0 + 0.4 * 340.0)
    drain, undrain = changes(SETTINGS, DRAIN)
    assert (drain.kind, undrain.kind, drain.place) == ("drain", "undrain", "fog")
    assert drain.at_s < undrain.at_s < 400.0


def test_who_is_first_alternates_and_dynamic_follows_another_turn_of_ours() -> None:
    """The drain comes once, after the last of ours."""
    assert [turn.label for turn in turns(None, 3)] == [
        *("static-1", "dynamic-1", "even-1", "ras-1"),
        *("ras-2", "even-2", "static-2", "dynamic-2"),
        *("dynamic-3", "static-3", "drain-1", "even-3", "ras-3"),
    ]
    assert [turn.label for turn in turns("drain", 3)] == ["drain-1"]
    with pytest.raises(ExperimentError, match="'best' is not one of static, dynamic, even, ras, drain"):
        turns("static,best", 1)


def test_only_ours_knows_pins_and_prices_and_only_static_is_frozen() -> None:
    asked = {turn.variant.name: describe(SETTINGS, turn) for turn in turns(None, 1)}
    ends = {"source": "host:fog-1", "sink": "host:fog-1"}
    assert {name: turn.pins for name, turn in asked.items()} == {
        "static": ends,
        "dynamic": ends,
        "even": {},
        "ras": {},
        # what is pinned to a site that is drained would stay
        "drain": dict.fromkeys(ends, "host:cloud-1"),
    }
    frozen = {name: turn.conf.get("topology.stormplace.frozen") for name, turn in asked.items()}
    assert frozen == {"static": True, "dynamic": False, "even": None, "ras": None, "drain": False}
    weights = asked["drain"].conf["topology.stormplace.weights"]
    assert weights == {"response_time": 0.25, "cost": 0.75}
    for turn in asked.values():
        assert turn.conf["synthetic.replay"] is True
        assert turn.conf["synthetic.speedups"] == {"cloud-1": 1, "cloud-2": 1, "fog-1": 1, "fog-2": 1.5}
    tuples = {turn.variant.name: SETTINGS.tuples(turn.variant) for turn in turns(None, 1)}
    assert tuples == {"static": 75, "dynamic": 170, "even": 75, "ras": 75, "drain": 200}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("joined = false\n", "", "0 hosts have joined = false, there must be one"),
        ('name = "cloud-2"', 'name = "cloud-2"\njoined = false', "2 hosts have joined = false"),
        ('{ name = "fog", supervisors = 2', '{ name = "fog", supervisors = 3', "its hosts are cloud-1"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = SITES.read_text(encoding="utf-8")
    assert old in text
    sites = tmp_path / "sites.toml"
    sites.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ExperimentError, match=f"--sites: {fault}"):
        replace(SETTINGS, sites=sites).late_host  # noqa: B018 - it is what refuses


def test_an_instance_that_is_none_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "chain.json"
    data.write_text("{}", encoding="utf-8")
    with pytest.raises(ExperimentError, match=r"--data: .*chain\.json: "):
        replace(SETTINGS, data=data).late_host  # noqa: B018 - as above


def test_a_label_names_variant_and_repetition() -> None:
    assert VariantTurn(DYNAMIC, 3).label == "dynamic-3"
