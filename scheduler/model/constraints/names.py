"""Names in constraints, looked up in a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.model.application import Application
    from scheduler.model.network import Network

NAMES_SHOWN = 5


def operators_of(application: Application, names: Sequence[str], where: str) -> list[int]:
    """Return the operators of these names.

    Raises:
        ModelError: There is none of that name; the place is ``<where>.operators[k]``.
    """
    for k, each in enumerate(names):
        if each not in application.index:
            raise ModelError(f"{where}.operators[{k}]", f"{shown(each)} is not an operator")
    return [application.index[each] for each in names]


def node_of(network: Network, name: str, where: str) -> int:
    """Return the node of this name.

    Raises:
        ModelError: There is none.
    """
    if name not in network.index:
        raise ModelError(where, f"{shown(name)} is not a node of the network")
    return network.index[name]


def listed(names: Sequence[str]) -> str:
    """Return the first names and the number of the others."""
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"
