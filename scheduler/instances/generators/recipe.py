"""A recipe names everything a generated problem follows from; the same recipe gives the same problem."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from scheduler.base.checks import ModelError, at_least
from scheduler.instances.generators.geographic import geographic_network
from scheduler.instances.generators.heterogeneous import NodeChoices, heterogeneous, roomy_node
from scheduler.instances.generators.layered import LAYERED, layered
from scheduler.instances.generators.paper import (
    APPLICATIONS,
    OPERATORS,
    SOURCE_AND_SINK_SLOTS,
    square_network,
)
from scheduler.model.problem import Objective, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.model.application import Application
    from scheduler.model.network import Network

_Maker = TypeVar("_Maker")

MOST = 100_000
"""Operators and nodes; ten times what the strategies are made for."""


@dataclass(frozen=True)
class Recipe:
    """What to generate. Source and sink are pinned to one node with room for both.

    Attributes:
        application: ``sequential``, ``diamond``, ``replicated`` or ``layered``.
        network: ``two-level`` (delay matrix, a square number of nodes) or ``geographic`` (coordinates).
        nodes: Number of nodes.
        weights: By metric name, sum 1.
        seed: Of all random choices (>= 0).
        operators: Number of operators.
        layers: Of a layered application, without source and sink.
        density: Of a layered application (`LayeredTraits`).
        sites: Of a geographic network.
        choices: Speed-ups, slots and costs that nodes draw; by default all nodes are alike.
    """

    application: str
    network: str
    nodes: int
    weights: Mapping[str, float]
    seed: int = 0
    operators: int = OPERATORS
    layers: int = 4
    density: float = LAYERED.density
    sites: int = 10
    choices: NodeChoices = field(default_factory=NodeChoices)


def build(recipe: Recipe) -> Problem:
    """Return the problem of a recipe; two-level ones with equal nodes are those of `paper_problem`.

    Network, node traits and application have random streams of their own: another application does not
    change the network.

    Raises:
        ModelError: A value is out of range; its place is the name of the attribute.
    """
    application = _named("application", recipe.application, _APPLICATIONS)
    network = _named("network", recipe.network, _NETWORKS)
    if recipe.seed < 0:
        raise ModelError("seed", f"expected a number >= 0, got {recipe.seed}")
    at_least("nodes", 1, recipe.nodes)
    for place in ("nodes", "operators"):
        count = getattr(recipe, place)
        if count > MOST:
            raise ModelError(place, f"expected at most {MOST}, got {count}")
    objective = Objective(recipe.weights)
    random = np.random.default_rng([recipe.seed, recipe.nodes])
    links = heterogeneous(
        network(recipe, random), recipe.choices, np.random.default_rng([recipe.seed, recipe.nodes, 1])
    )
    home = roomy_node(links, SOURCE_AND_SINK_SLOTS, random)
    return Problem(application(recipe, home), links, objective)


def _layered(recipe: Recipe, home: str) -> Application:
    random = np.random.default_rng([recipe.seed, max(recipe.operators, 0), 2])
    traits = replace(LAYERED, density=recipe.density)
    return layered(recipe.operators, recipe.layers, random, home, traits)


_APPLICATIONS: Final[Mapping[str, Callable[[Recipe, str], Application]]] = MappingProxyType(
    {
        **dict.fromkeys(
            APPLICATIONS, lambda recipe, home: APPLICATIONS[recipe.application](recipe.operators, home)
        ),
        "layered": _layered,
    }
)
_NETWORKS: Final[Mapping[str, Callable[[Recipe, np.random.Generator], Network]]] = MappingProxyType(
    {
        "two-level": lambda recipe, random: square_network(recipe.nodes, random),
        "geographic": lambda recipe, random: geographic_network(recipe.nodes, recipe.sites, random),
    }
)


def _named(where: str, name: str, known: Mapping[str, _Maker]) -> _Maker:
    if name not in known:
        raise ModelError(where, f'expected one of {", ".join(known)}, got "{name}"')
    return known[name]
