from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.cluster import LabClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TWO_SITES = """
executors_per_host = 2

[[site]]
name = "near"
supervisors = 2
slots = 2
services = true

[[site]]
name = "far"
supervisors = 1
slots = 2

[[link]]
between = ["near", "far"]
delay_ms = 20.0
"""


@pytest.fixture(scope="session")
def two_sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sites") / "two.toml"
    path.write_text(TWO_SITES, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def lab(two_sites: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabClient]:
    """A running lab of two sites and three supervisors; tests may leave it under any scheduler."""
    client = LabClient(tmp_path_factory.mktemp("lab"))
    client.up(two_sites, "even")
    try:
        yield client
    finally:
        client.down()
