"""The keeper's control socket: one JSON line asks, one JSON line answers.

The socket lies in the state folder. A UNIX address holds about 100 bytes only, so both ends reach it through
a descriptor of the folder, however long the folder's path is.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_PATIENCE_S = 2.0
_ANSWER_S = 20.0


@contextmanager
def _short_address(path: Path) -> Iterator[str]:
    """Provide a short name of a socket's path."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class ControlServer:
    """The keeper's end."""

    def __init__(self, path: Path) -> None:
        # what stands at its place answers: a socket that does not listen yet would look like a dead keeper
        scratch = path.with_name(f".{path.name}")
        scratch.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _short_address(scratch) as address:
            self._socket.bind(address)
        scratch.chmod(0o600)
        self._socket.listen(16)
        scratch.replace(path)

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._socket.fileno()

    def serve_one(self, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answer one waiting client; one that does not speak in time is left."""
        connection, _ = self._socket.accept()
        with connection:
            connection.settimeout(_PATIENCE_S)
            try:
                with connection.makefile("rb") as reader:
                    line = reader.readline()
                if not line:
                    return  # it only wanted to know who listens
                try:
                    answer = handle(json.loads(line))
                except LabError as error:
                    answer = {"error": str(error)}
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except (OSError, ValueError) as error:
                print(f"keeper: a client was not served: {error}", flush=True)


def ask(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the keeper and return its answer.

    Raises:
        LabError: The keeper refuses, or does not answer.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_ANSWER_S)
            with _short_address(path) as address:
                connection.connect(address)
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as reader:
                answer: dict[str, Any] = json.loads(reader.readline())
    except (OSError, ValueError) as error:
        raise LabError(f"the lab's keeper does not answer on {path} ({error})") from None
    if "error" in answer:
        raise LabError(answer["error"])
    return answer


def keeper_pid(path: Path) -> int:
    """Return the keeper's process id as this process sees it, from the kernel.

    Raises:
        LabError: No process listens on the socket.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            with _short_address(path) as address:
                connection.connect(address)
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError as error:
        raise LabError(f"the lab's keeper does not answer on {path} ({error.strerror})") from None
    pid, _uid, _gid = struct.unpack("3i", credentials)
    return int(pid)
