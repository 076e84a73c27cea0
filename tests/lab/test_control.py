from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from lab.control import ControlServer, ask, keeper_pid
from lab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

Handle = Callable[[dict[str, Any]], dict[str, Any]]


def serve(server: ControlServer, handle: Handle, clients: int) -> threading.Thread:
    thread = threading.Thread(target=lambda: [server.serve_one(handle) for _ in range(clients)])
    thread.start()
    return thread


def test_a_long_folder_is_no_obstacle(tmp_path: Path) -> None:
    """Requests and answers pass through a socket whose path is longer than a UNIX address."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    server = ControlServer(folder / "control.sock")
    thread = serve(server, lambda request: {"echo": request}, clients=2)
    assert ask(folder / "control.sock", {"do": "status"}) == {"echo": {"do": "status"}}
    assert keeper_pid(folder / "control.sock") == os.getpid()
    thread.join()


def test_a_refusal_reaches_the_asker(tmp_path: Path) -> None:
    """The keeper's error is raised where the question was asked."""

    def refuse(request: dict[str, Any]) -> dict[str, Any]:
        raise LabError(f"no {request['do']} today")

    server = ControlServer(tmp_path / "control.sock")
    thread = serve(server, refuse, clients=1)
    with pytest.raises(LabError, match="no delay today"):
        ask(tmp_path / "control.sock", {"do": "delay"})
    thread.join()


def test_a_client_that_talks_nonsense_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After nonsense the next client is served."""
    monkeypatch.chdir(tmp_path)
    server = ControlServer(tmp_path / "control.sock")
    thread = serve(server, lambda _: {"well": True}, clients=2)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("control.sock")
        client.sendall(b"nonsense\n")
        assert client.recv(10) == b""
    assert ask(tmp_path / "control.sock", {}) == {"well": True}
    thread.join()


def test_an_absent_keeper_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    """Without a keeper the question fails with the socket's place."""
    with pytest.raises(LabError, match="does not answer on"):
        ask(tmp_path / "control.sock", {"do": "status"})
    with pytest.raises(LabError, match="does not answer on"):
        keeper_pid(tmp_path / "control.sock")
