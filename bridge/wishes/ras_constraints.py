"""What a topology's RAS constraints say: components apart from each other, and few executors on one node.

As Storm's `ConstraintSolverConfig` reads both keys; what it logs and leaves out is left out here, too, and
named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bridge.wishes.setting_texts import shown

if TYPE_CHECKING:
    from collections.abc import Collection

CONSTRAINTS = "topology.ras.constraints"
SPREAD = "topology.spread.components"
_MOST = "maxNodeCoLocationCnt"
_APART = "incompatibleComponents"
# Nine digits are more executors than any component has.
_WHOLE = re.compile(r"0*[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Constraints:
    """Limits between executors of one topology, by component.

    Attributes:
        apart: Pairs of components, names ascending, that no worker holds together; a component beside itself
            has at most one executor in a worker.
        per_node: Most executors of a component on one node.
    """

    apart: frozenset[tuple[str, str]] = frozenset()
    per_node: tuple[tuple[str, int], ...] = ()


def read_constraints(
    constraints: Any, spread: Any, components: Collection[str]
) -> tuple[Constraints, tuple[str, ...]]:
    """Read both keys; each part that is bad is named and left out, the others hold.

    Args:
        constraints: Value of `topology.ras.constraints`: an object by component, or a list of pairs of
            components that no worker holds together; None without one.
        spread: Value of `topology.spread.components`, a list of components with one executor on a node; None
            without one.
        components: Names of the topology's components.

    Returns:
        The constraints, and one phrase per fault with the path of what is bad.
    """
    reader = _Reader(frozenset(components))
    if isinstance(constraints, dict):
        for name in sorted(constraints):
            reader.component(name, constraints[name])
    elif isinstance(constraints, list):
        for place, pair in enumerate(constraints):
            reader.pair(f"{CONSTRAINTS}[{place}]", pair)
    elif constraints is not None:
        reader.faults.append(
            f"{CONSTRAINTS}: must be an object by component or a list of pairs, got {shown(constraints)}"
        )
    if isinstance(spread, list):
        for place, name in enumerate(spread):
            reader.alone(f"{SPREAD}[{place}]", name)
    elif spread is not None:
        reader.faults.append(f"{SPREAD}: must be a list of components, got {shown(spread)}")
    found = Constraints(frozenset(reader.apart), tuple(sorted(reader.per_node.items())))
    return found, tuple(reader.faults)


class _Reader:
    """Constraints as far as they have been read."""

    def __init__(self, components: frozenset[str]) -> None:
        self.apart: set[tuple[str, str]] = set()
        self.per_node: dict[str, int] = {}
        self.faults: list[str] = []
        self._components = components

    def component(self, name: str, given: Any) -> None:
        """Read what the object says of one component."""
        path = f"{CONSTRAINTS}.{name}"
        if not self._known(path, name):
            return
        if not isinstance(given, dict):
            self.faults.append(f"{path}: must be an object, got {shown(given)}")
            return
        for kind in sorted(given):
            where, value = f"{path}.{kind}", given[kind]
            if kind == _MOST:
                self._limit(where, name, value)
            elif kind == _APART and isinstance(value, str | list):
                for other in [value] if isinstance(value, str) else value:
                    self._separate(where, name, other)
            elif kind == _APART:
                self.faults.append(f"{where}: must be a component or a list of them, got {shown(value)}")
            else:
                self.faults.append(f"{where}: unknown, known are {_MOST} and {_APART}")

    def pair(self, path: str, given: Any) -> None:
        """Read a pair of the older form; Storm reads the first two of a list."""
        if not isinstance(given, list) or len(given) != 2:
            self.faults.append(f"{path}: must be a pair of components, got {shown(given)}")
        elif self._known(path, given[0]):
            self._separate(path, given[0], given[1])

    def alone(self, path: str, name: Any) -> None:
        """Read a component of which a node holds one executor; a stated number of executors outranks that."""
        if not self._known(path, name):
            return
        if self.per_node.setdefault(name, 1) != 1:
            stated = f"{CONSTRAINTS}.{name}.{_MOST} {self.per_node[name]}"
            self.faults.append(f"{path}: contradicts {stated}, which counts")

    def _limit(self, path: str, name: str, value: Any) -> None:
        # Storm reads the value as text, so that "2" is as good as 2.
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        if _WHOLE.fullmatch(text):
            self.per_node[name] = int(text)
        else:
            self.faults.append(f"{path}: must be a whole number >= 1, got {shown(value)}")

    def _separate(self, path: str, name: str, other: Any) -> None:
        if self._known(path, other):
            self.apart.add((min(name, other), max(name, other)))

    def _known(self, path: str, name: Any) -> bool:
        known = isinstance(name, str) and name in self._components
        if not known:
            self.faults.append(f"{path}: the topology has no component {shown(name)}")
        return known
