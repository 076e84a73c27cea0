"""What agents publish of the processes that workers started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from kazoo.exceptions import NoNodeError

from formats.packed_content import unpack
from provisioning.cluster.zookeeper import connected

if TYPE_CHECKING:
    from collections.abc import Collection

_ANSWER_S = 5.0
ChildSeconds: TypeAlias = Mapping[tuple[str, str], float]
"""(topology id, `formats.script_key` of a script) -> processor time of its processes, s."""


class AgentsError(Exception):
    """ZooKeeper cannot be reached or refuses; the message is one sentence."""


class Agents:
    """Reads agents' readings.

    Args:
        zookeeper: Its addresses.
        root: Path of Stormplace's readings.
        arguments: Of the client: credentials.
    """

    def __init__(self, zookeeper: str, root: str, arguments: Mapping[str, Any]) -> None:
        self._zookeeper = zookeeper
        self._folder = f"{root}/nodes"
        self._arguments = arguments

    def child_seconds(self, hosts: Collection[str], now_s: float) -> ChildSeconds:
        """Return what the agents of some hosts say now.

        A host without an agent, with one of before, or with a reading that is older than its lifetime is not
        in it: what is found is then too little, never too much.

        Args:
            hosts: By their supervisors' names.
            now_s: Time, s since 1970.

        Raises:
            AgentsError: ZooKeeper does not answer.
        """
        found: dict[tuple[str, str], float] = {}
        with connected(self._zookeeper, self._arguments, AgentsError) as client:
            asked = [client.get_async(f"{self._folder}/{host}") for host in hosts]
            for each in asked:
                try:
                    content, _ = each.get(timeout=_ANSWER_S)
                except NoNodeError:
                    continue
                for key, used_s in _of_host(content, now_s):
                    found[key] = found.get(key, 0.0) + used_s
        return found


def _of_host(content: bytes, now_s: float) -> list[tuple[tuple[str, str], float]]:
    """Return what one reading says of each worker; nothing if it is old, or none of ours."""
    try:
        reading = json.loads(unpack(content))
        if abs(now_s - float(reading["time"])) > float(reading["lifetime_s"]):
            return []
        return [
            ((str(worker["topology"]), str(script)), max(0.0, float(used_s)))
            for worker in reading["workers"]
            for script, used_s in worker.get("children", {}).items()
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []
