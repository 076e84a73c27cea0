"""Small clusters by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.large_clusters.cluster import Cluster, parse_cluster

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def make() -> Callable[..., Cluster]:
    """A cluster of hosts `a1`, `a2`, `b1`, ... (rack and number) and one topology `t`."""

    def made(
        components: list[dict[str, Any]],
        edges: list[tuple[int, int]],
        *,
        hosts: tuple[str, ...] = ("a1", "a2", "b1"),
        max_heap: float = 1000.0,
        shared: tuple[dict[str, Any], ...] = (),
        conf: dict[str, Any] | None = None,
        min_worker_cpu: float = 0.0,
        **host: Any,
    ) -> Cluster:
        room = {"first_port": 1, "slots": 2, "cpu": 100.0, "memory": 2000.0, "generic": {}} | host
        demands = {"executors": 1, "cpu": 0.0, "on_heap": 0.0, "off_heap": 0.0, "generic": {}}
        first, listed = 1, []
        for number, each in enumerate(components):
            listed.append(demands | {"name": f"c{number}", "first_task": first} | each)
            first += listed[-1]["executors"]
        topology = {
            "id": "t",
            "max_heap": max_heap,
            "components": listed,
            "edges": [[a, b, "shuffle"] for a, b in edges],
            "shared_memory": list(shared),
            "conf": conf or {},
        }
        return parse_cluster(
            {
                "min_worker_cpu": min_worker_cpu,
                "hosts": [room | {"name": name, "rack": name[0]} for name in hosts],
                "topologies": [topology],
            }
        )

    return made
