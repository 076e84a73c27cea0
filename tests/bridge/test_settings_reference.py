"""The configuration reference and the code name the same keys with the same defaults, in both directions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bridge.network import cluster, host_places
from bridge.settings_file import load_settings
from bridge.settings_reference import settings_reference
from bridge.wishes.topology_settings import ATTRIBUTES

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "configuration.md").read_text()


def keys_of(heading):
    """The first column of the table below a heading."""
    section = REFERENCE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE))


def test_the_daemons_part_is_what_the_code_says():
    """Every section, key, type, range, default and meaning; run bridge.settings_reference to renew it."""
    assert f"this part -->\n{settings_reference()}<!-- end" in REFERENCE


def test_the_topology_keys_are_those_that_are_read():
    """No key is missing, none is invented."""
    assert keys_of("A topology's configuration") == set(ATTRIBUTES)


def test_the_metadata_keys_are_those_that_are_read():
    """Those of the modules, which are named META_..."""
    both = vars(cluster) | vars(host_places)
    read = {value for name, value in both.items() if name.startswith("META_")}
    assert keys_of("Supervisor metadata") == read


def test_the_keys_of_storm_yaml_are_those_of_the_shim():
    """As the shim's source declares them, defaults included."""
    source = (ROOT / "java-shim/src/main/java/io/stormplace/ShimSettings.java").read_text()
    declared = set(re.findall(r'"(stormplace\.[a-z.]+[a-z])"', source))
    assert keys_of("storm.yaml of Nimbus") == declared


@pytest.mark.parametrize("example", re.findall(r"An example:\n\n((?:    .*\n|\n)+)", REFERENCE))
def test_the_example_is_accepted(tmp_path, example):
    """What the page shows can be copied."""
    path = tmp_path / "daemon.toml"
    path.write_text(example)
    assert load_settings(path, ["local-search"]).capacity.executors_per_host == 4
