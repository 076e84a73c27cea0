"""The wheel carries the program, whole and alone, and what it declares to need is what it needs."""

from __future__ import annotations

import subprocess
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.programs

PROJECT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = [name for name in SETTINGS["tool"]["mypy"]["packages"] if name != "benchmarks"]
IN_THE_TREE_ONLY = ("lab/storm/", "lab/system-packages.sh")
"""Storm is assembled from these in a checkout; an installed program has no lab."""


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel):
    """Modules and data as they are tracked; nothing that a build has left among them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PACKAGES],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tracked = {name for name in listed.split("\0") if name and (PROJECT / name).is_file()}

    assert names(wheel) == {name for name in tracked if not name.startswith(IN_THE_TREE_ONLY)}


def test_every_requirement_has_a_lower_bound_that_the_pinned_version_meets(wheel):
    """Setuptools alone has an upper bound only; libraries with an extra are not required without it."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    pins = {
        pin.name.lower().replace("_", "-"): next(iter(pin.specifier)).version
        for line in (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
        for pin in (Requirement(line),)
    }
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    libraries = [one for one in required if one.name != "stormplace"]

    assert {one.name for one in libraries if ">" not in str(one.specifier)} == {"setuptools"}
    assert {one.name for one in libraries if pins[one.name] not in one.specifier} == set()
    assert {one.name for one in libraries if one.marker is None} == {
        "annotated-types",
        "kazoo",
        "networkx",
        "numpy",
        "ortools",
        "prometheus-client",
        "psutil",
        "pydantic",
        "rich",
        "thriftpy2",
        "typer",
        "typing-extensions",
    }
    assert set(metadata.get_all("Provides-Extra", [])) == {
        "data",
        "kafka",
        "topologies",
        "reports",
        "lab",
        "all",
        "test",
    }
