"""`stormplace elastic`: bad settings are refused, and it runs without a cluster until it is asked to end."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from provisioning.providers.book_store import BookFile
from provisioning.providers.entry import Entry
from tests.scripted_server import closed_port

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Stormplace = Callable[..., tuple[int, str, str]]


def settings(folder: Path, more: str = "") -> Path:
    path = folder / "elastic.toml"
    path.write_text(
        f"""
        nimbus = "127.0.0.1:{closed_port()}"
        state_directory = "{folder / "state"}"
        graphite = "127.0.0.1:{closed_port()}"
        interval_s = 0.2
        {more}
        [topology.taxi]
        """,
        encoding="utf-8",
    )
    return path


OFFER = "cpu = 100.0\nmemory_mb = 512.0\nslots = 4\nbilling_unit_s = 600.0\nunit_cost = 1.0\n"
LARGE = f"\n[offer.large]\n{OFFER.replace('slots = 4', 'slots = 8')}"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('zookeper = "h:1"', "zookeper: unknown key"),
        ('leased = "large"', "leased: must be one of small, got 'large'"),
        ('leased = ["small", "large"]', "leased: must be one of small, got 'large'"),
        ("limits.hosts_max_of.large = 3", "limits.hosts_max_of.large: this offer is not leased"),
        (LARGE, "leased: missing, there are several offers: large, small"),
        (
            f'leased = ["small", "large"]{LARGE}',
            "leased: hosts of large need the slots and the billing unit of those of small",
        ),
    ],
)
def test_bad_settings_are_refused(more: str, sentence: str, stormplace: Stormplace, tmp_path: Path) -> None:
    path = settings(tmp_path, more)
    with path.open("a", encoding="utf-8") as file:
        file.write(f'\n[provider]\nkind = "simulated"\n[offer.small]\n{OFFER}')
    status, _, err = stormplace("elastic", "--config", path)
    assert status == 2
    assert sentence in err
    assert str(path) in err


def test_offers_whose_hosts_boot_for_too_long_are_refused(stormplace: Stormplace, tmp_path: Path) -> None:
    """Each would be given back before it is up, and leased again."""
    path = settings(tmp_path)
    with path.open("a", encoding="utf-8") as file:
        file.write(f'\n[provider]\nkind = "simulated"\n[offer.small]\n{OFFER}boot_s = 700.0\n')
    status, _, err = stormplace("elastic", "--config", path)
    assert status == 2
    assert "boot_timeout_s: hosts of small boot for 700 s, and are given up after 600 s" in err


def test_leased_hosts_need_a_provider(stormplace: Stormplace, tmp_path: Path) -> None:
    """Without one they would be paid for, and said to be released."""
    entry = Entry(1, "r-1", "small", 600.0, 2.0, 60.0, 0.0, "ready", "host-1", ready_at_s=60.0)
    with BookFile(tmp_path / "state" / "leases.json", "simulated").opened() as book:
        book.keep([entry, replace(entry, number=2, request="r-2", step="ended")])
    status, _, err = stormplace("elastic", "--config", settings(tmp_path))
    assert status == 2
    assert "provider: missing, and without it 1 leased host cannot go back" in err


def test_a_missing_file_is_refused(stormplace: Stormplace, tmp_path: Path) -> None:
    status, _, err = stormplace("elastic", "--config", tmp_path / "none.toml")
    assert status == 2
    assert "none.toml: cannot be read" in err


def test_two_loops_with_one_folder_are_refused(stormplace: Stormplace, tmp_path: Path) -> None:
    path = settings(tmp_path)
    (tmp_path / "state").mkdir()
    with (tmp_path / "state" / "lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        status, _, err = stormplace("elastic", "--config", path)
    assert status == 2
    assert "another loop runs with" in err


@pytest.mark.programs
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_without_a_cluster_it_waits_for_one(number: signal.Signals, tmp_path: Path) -> None:
    """And ends in order when it is asked to."""
    command = [sys.executable, "-m", "cli.main", "elastic", "--config", str(settings(tmp_path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("stormplace elastic ready")
        line = json.loads(process.stderr.readline())
        assert line["event"] == "nimbus-silent"
        process.send_signal(number)
        rest = process.stderr.read().splitlines()
        assert process.wait(60) == 0
    assert json.loads(rest[-1])["event"] == "elastic-stopped"


def test_a_status_before_the_first_round_is_refused(stormplace: Stormplace, tmp_path: Path) -> None:
    status, _, err = stormplace("elastic", "--config", settings(tmp_path), "--status")
    assert status == 1
    assert "no loop with these settings has run" in err
