"""A wheel of the tree, built once, and the program as it runs from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
PACKAGES = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["packages"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tree in which Maven has left what it leaves behind."""
    at = tmp_path_factory.mktemp("wheel")
    for package in PACKAGES:
        not_tracked = shutil.ignore_patterns("__pycache__", "target")
        shutil.copytree(PROJECT / package, at / "tree" / package, ignore=not_tracked)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, at / "tree")
    left = at / "tree" / "lab" / "storm" / "workers" / "target"
    (left / "antrun").mkdir(parents=True)
    for name in ("antrun/build-main.xml", "left.toml", "left.py"):
        (left / name).touch()
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, at], cwd=at / "tree", check=True, capture_output=True
    )
    return next(at.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path) -> Path:
    """The folder that holds the wheel's modules, as site-packages of an environment would."""
    site = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture
def elsewhere(installed: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python from the wheel, in a folder that has nothing of the project."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
