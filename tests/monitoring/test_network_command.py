"""`stormplace network` against a real ZooKeeper: what agents published is what is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kazoo.security import make_digest_acl

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]


def network(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "network", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_readings_of_agents_are_shown_with_the_link_that_they_measured(
    zookeeper: Any, root: str, nodes: Any, start_agent: Callable[..., Any]
) -> None:
    """Two agents of two sites: one cell, measured, with fresh readings."""
    for host, site in (("a-1", "rome"), ("b-1", "belgium")):
        start_agent(host, zookeeper.address, "--site", site)
    for host in ("a-1", "b-1"):
        nodes.wait(host, lambda reading: bool(reading and reading.get("links")))
    done = network("--zookeeper", zookeeper.address, "--root", root, "--json")
    answer = json.loads(done.stdout)
    (between,) = [cell for cell in answer["sites"] if cell["all_pairs"]]
    assert (done.returncode, done.stderr) == (0, "")
    assert (sorted(between["between"]), between["source"]) == (["belgium", "rome"], "measured")
    assert [host["reading"] for host in answer["hosts"]] == ["believed", "believed"]
    assert answer["without_agent"] is None


def test_no_readings_are_status_3(zookeeper: Any, root: str) -> None:
    """A root under which no agent publishes."""
    done = network("--zookeeper", zookeeper.address, "--root", root)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (3, "", 1)
    assert f"has no readings in {root}/nodes" in done.stderr


def test_protected_readings_need_the_password(zookeeper: Any, root: str, nodes: Any, tmp_path: Path) -> None:
    """Without it one sentence names the option, with it they are shown."""
    acl = [make_digest_acl("user", "secret", all=True)]
    nodes.client.add_auth("digest", "user:secret")
    nodes.client.create(f"{root}/nodes/a-1", b"not JSON", makepath=True, acl=acl)
    refused = network("--zookeeper", zookeeper.address, "--root", root)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "--zookeeper-auth-file" in refused.stderr
    file = tmp_path / "auth"
    file.write_text("user:secret\n")
    done = network("--zookeeper", zookeeper.address, "--root", root, "--zookeeper-auth-file", str(file))
    assert done.returncode == 0
    assert "Refused readings: 1 (a-1)" in done.stdout
