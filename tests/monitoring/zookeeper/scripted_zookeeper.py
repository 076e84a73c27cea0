"""A scripted connection to ZooKeeper that answers at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable

OURS, FOREIGN = 7, 8


class Reply:
    """An answer that is there already."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer

    def get(self, timeout: float) -> Any:
        assert timeout > 0
        return self._answer()


class Client:
    """A connection of session `OURS`; `faults` holds what the next calls of an operation on a path raise."""

    connected = True

    def __init__(self) -> None:
        self.client_id: tuple[int, bytes] | None = (OURS, b"")
        self.owners: dict[str, int] = {}
        self.contents: dict[str, bytes] = {}
        self.faults: dict[tuple[str, str], list[Exception]] = {}
        self.lost_replies: dict[tuple[str, str], Exception] = {}
        self.calls: list[tuple[str, str]] = []

    def _reply(self, operation: str, path: str, act: Callable[[], Any]) -> Reply:
        self.calls.append((operation, path))
        faults = self.faults.get((operation, path), [])
        fault = faults.pop(0) if faults else None

        def answer() -> Any:
            if fault is not None:
                raise fault
            done = act()
            if (operation, path) in self.lost_replies:
                raise self.lost_replies.pop((operation, path))
            return done

        return Reply(answer)

    def create_async(self, path: str, content: bytes, *, ephemeral: bool, makepath: bool) -> Reply:
        assert (ephemeral, makepath) == (True, True)

        def act() -> None:
            if path in self.owners:
                raise NodeExistsError
            self.owners[path], self.contents[path] = OURS, content

        return self._reply("create", path, act)

    def set_async(self, path: str, content: bytes) -> Reply:
        def act() -> None:
            if path not in self.owners:
                raise NoNodeError
            self.contents[path] = content

        return self._reply("set", path, act)

    def exists_async(self, path: str) -> Reply:
        owner = self.owners.get(path)
        return self._reply(
            "exists", path, lambda: None if owner is None else SimpleNamespace(ephemeralOwner=owner)
        )

    def delete_async(self, path: str) -> Reply:
        def act() -> None:
            if self.owners.pop(path, None) is None:
                raise NoNodeError
            del self.contents[path]

        return self._reply("delete", path, act)

    def occupy(self, path: str) -> None:
        self.owners[path], self.contents[path] = FOREIGN, b"foreign"

    def start_async(self) -> None:
        """Stand already."""

    def stop(self) -> None:
        """Have nothing to end."""

    close = stop
