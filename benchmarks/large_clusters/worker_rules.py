"""What a topology's configuration says about who may share a worker or a host, and whether it is kept.

The keys are those of Storm's resource-aware scheduler: `topology.ras.one.executor.per.worker` and
`topology.ras.one.component.per.worker` under any of its strategies; `topology.ras.constraints` (a map, or
the older list of pairs) and `topology.spread.components` under its ConstraintSolverStrategy, the only one
that reads them. Names that are no components are ignored, as there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SOLVER = "ConstraintSolverStrategy"


@dataclass(frozen=True)
class WorkerRules:
    """Rules of one topology.

    Attributes:
        one_executor: A worker holds one executor.
        one_component: A worker holds executors of one component.
        incompatible: Pairs of components that no worker holds together; one name: two executors of it.
        most_on_host: Most executors of a component on a host.
    """

    one_executor: bool = False
    one_component: bool = False
    incompatible: frozenset[frozenset[str]] = frozenset()
    most_on_host: Mapping[str, int] = field(default_factory=dict)

    def broken_in_worker(self, components: Iterable[str]) -> Iterator[str]:
        """Return what is broken by a worker that holds executors of these components, one item each."""
        count = Counter(components)
        if self.one_executor and count.total() > 1:
            yield f"{count.total()} executors share a worker"
        elif self.one_component and len(count) > 1:
            yield f"{len(count)} components share a worker"
        for pair in self.incompatible:
            if all(count[name] > (1 if len(pair) == 1 else 0) for name in pair):
                yield f"{' and '.join(sorted(pair))} share a worker"

    def broken_on_host(self, components: Iterable[str]) -> Iterator[str]:
        """Return what is broken by a host that holds executors of these components, one item each."""
        count = Counter(components)
        for name, most in self.most_on_host.items():
            if count[name] > most:
                yield f"{count[name]} executors of {name} share a host, at most {most} may"


def worker_rules(conf: Mapping[str, Any], components: Iterable[str]) -> WorkerRules:
    """Read the rules from a topology's configuration."""
    one_executor = bool(conf.get("topology.ras.one.executor.per.worker"))
    one_component = bool(conf.get("topology.ras.one.component.per.worker"))
    if not str(conf.get("topology.scheduler.strategy")).endswith(_SOLVER):
        return WorkerRules(one_executor, one_component)
    names = frozenset(components)
    constraints = conf.get("topology.ras.constraints") or {}
    pairs: list[frozenset[str]] = []
    most: dict[str, int] = {}
    if isinstance(constraints, list):
        pairs = [frozenset(pair) for pair in constraints]
    else:
        for name, own in constraints.items():
            others = own.get("incompatibleComponents", [])
            pairs += [frozenset({name, other}) for other in ([others] if isinstance(others, str) else others)]
            if "maxNodeCoLocationCnt" in own:
                most[name] = int(own["maxNodeCoLocationCnt"])
    for name in conf.get("topology.spread.components") or []:
        most.setdefault(name, 1)
    return WorkerRules(
        one_executor,
        one_component,
        frozenset(pair for pair in pairs if pair <= names),
        {name: count for name, count in most.items() if name in names},
    )
