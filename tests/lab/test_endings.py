"""However a lab ends, it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from lab.anchor import Anchor, is_locked
from lab.cluster import LabClient
from lab.control import keeper_pid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.lab, pytest.mark.timeout(200)]

WAIT_S = 60.0


@pytest.fixture
def starting(tmp_path: Path, two_sites: Path) -> Iterator[tuple[LabClient, subprocess.Popen[str]]]:
    """A lab in the middle of its start: some processes run, it is not ready."""
    folder = tmp_path / "lab"
    client = LabClient(folder)
    # a killed test run takes the command along, which in turn takes the lab along
    command = ["setpriv", "--pdeathsig", "KILL", "--", sys.executable, "-m", "cli.main"]
    process = subprocess.Popen(
        [*command, "lab", "up", "--scheduler", "even", "--sites", str(two_sites), "--dir", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline_s = time.monotonic() + WAIT_S
        while len(client.status().services) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline_s, "the first services do not come"
            time.sleep(0.05)
        yield client, process
    finally:
        process.kill()
        process.communicate()
        client.down()


def tree(client: LabClient) -> list[psutil.Process]:
    anchor = Anchor.read(client.folder)
    assert anchor is not None
    top = psutil.Process(anchor.pid)
    processes = [top, *top.children(recursive=True)]
    assert len(processes) > 8
    return processes


def assert_nothing_is_left(client: LabClient, processes: list[psutil.Process]) -> None:
    _gone, alive = psutil.wait_procs(processes, timeout=WAIT_S)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    assert not is_locked(client.folder)


def test_ctrl_c_ends_everything(starting: tuple[LabClient, subprocess.Popen[str]]) -> None:
    """An interrupted `up` ends with a non-zero status, without a trace, and takes all processes along."""
    client, process = starting
    processes = tree(client)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode != 0
    assert "Traceback" not in err
    assert_nothing_is_left(client, processes)
    assert not client.folder.socket.exists()
    assert not client.folder.state.exists()


def test_a_lab_that_is_not_ready_ends_with_its_starter(
    starting: tuple[LabClient, subprocess.Popen[str]],
) -> None:
    """When `up` is killed before the lab is ready, the lab ends by itself."""
    client, process = starting
    processes = tree(client)
    process.kill()
    assert_nothing_is_left(client, processes)


def test_a_lab_of_tests_ends_with_them(tmp_path: Path, two_sites: Path) -> None:
    """When the process around a lab that is ready is killed, nothing of the lab stays."""
    client = LabClient(tmp_path / "lab")
    start = (
        "import sys, time; from pathlib import Path; from tests.lab.running import running_lab\n"
        "with running_lab(Path(sys.argv[1]), Path(sys.argv[2]).read_text(), 'even'):\n"
        "    print('ready', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", start, str(tmp_path), str(two_sites)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        processes = tree(client)
        process.kill()
        assert_nothing_is_left(client, processes)
    finally:
        process.kill()
        process.communicate()
        client.down()


@pytest.mark.parametrize("victim", ["keeper", "anchor"])
def test_a_killed_keeper_takes_everything_along(
    starting: tuple[LabClient, subprocess.Popen[str]], victim: str
) -> None:
    """SIGKILL to process 1 or to its parent ends all processes; `up` says so; `down` cleans up."""
    client, process = starting
    processes = tree(client)
    pid = keeper_pid(client.folder.socket) if victim == "keeper" else processes[0].pid
    os.kill(pid, signal.SIGKILL)
    _out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 2
    assert err.splitlines()[-1].startswith("stormplace: the lab has ended: ")
    assert_nothing_is_left(client, processes)
    assert client.down() is False
    assert not client.folder.socket.exists()
    assert not client.folder.state.exists()


def test_down_ends_a_lab_that_is_still_starting(starting: tuple[LabClient, subprocess.Popen[str]]) -> None:
    """`down` from another terminal ends the start; the waiting `up` says that the lab has ended."""
    client, process = starting
    processes = tree(client)
    assert client.down() is True
    assert process.wait(timeout=WAIT_S) == 2
    assert_nothing_is_left(client, processes)


def test_down_ends_a_keeper_that_does_not_answer(
    starting: tuple[LabClient, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keeper that hangs is killed through its anchor."""
    client, _process = starting
    processes = tree(client)
    os.kill(keeper_pid(client.folder.socket), signal.SIGSTOP)
    monkeypatch.setattr("lab.control._ANSWER_S", 0.5)
    assert client.down() is True
    assert_nothing_is_left(client, processes)
