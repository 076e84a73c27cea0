"""The problems on which paper 000 compares its strategies (section 7.1, Table 1)."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler.base.checks import ModelError
from scheduler.instances.generators.applications import diamond, replicated, sequential
from scheduler.instances.generators.brite import two_level_waxman
from scheduler.instances.generators.heterogeneous import roomy_node
from scheduler.model.link_table import LARGEST_MATRIX
from scheduler.model.problem import Objective, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.model.application import Application
    from scheduler.model.network import Network

OPERATORS = 20
SIZES = (36, 49, 64, 81, 100)
"""|V_res|: n AS with n routers each."""
SOURCE_AND_SINK_SLOTS = 2.0
"""What source and sink take together on the node to which both are pinned."""
APPLICATIONS: Final[Mapping[str, Callable[[int, str], Application]]] = MappingProxyType(
    {"diamond": diamond, "sequential": sequential, "replicated": replicated}
)
OBJECTIVES: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "A": {"availability": 1.0},
        "R": {"response_time": 1.0},
        "Z": {"network_usage": 1.0},
        "equal": {"response_time": 1 / 3, "availability": 1 / 3, "network_usage": 1 / 3},
    }
)
"""Weights by the name of the objective: w_a, w_r, w_z and * of Table 4."""


def square_network(nodes: int, random: np.random.Generator) -> Network:
    """Return n AS with n routers each, with the parameters of Table 1.

    Args:
        nodes: n^2.
        random: Source of chance.

    Raises:
        ModelError: The number of nodes is not a square, or too large for a matrix of delays.
    """
    if nodes > LARGEST_MATRIX:
        raise ModelError("nodes", f"expected at most {LARGEST_MATRIX} with a matrix of delays, got {nodes}")
    n = math.isqrt(max(nodes, 0))
    if nodes < 1 or n * n != nodes:
        raise ModelError("nodes", f"expected a square number such as 36 or 100, got {nodes}")
    return two_level_waxman(n, n, random)


def paper_problem(application: str, nodes: int, weights: Mapping[str, float], seed: int) -> Problem:
    """Return one of the paper's problems: 20 operators, source and sink pinned to one node.

    The network depends on size and seed only: the same one serves all applications and objectives.

    Args:
        application: ``sequential``, ``diamond`` or ``replicated``.
        nodes: A square number; the paper has 36, 49, 64, 81 and 100.
        weights: By metric name, sum 1, such as a value of `OBJECTIVES`.
        seed: Seed (>= 0).

    Returns:
        The problem with computed ranges: bounds that no placement can leave.

    Raises:
        ModelError: An argument is out of range.
    """
    if application not in APPLICATIONS:
        raise ModelError("application", f'expected one of {", ".join(APPLICATIONS)}, got "{application}"')
    if seed < 0:
        raise ModelError("seed", f"expected a number >= 0, got {seed}")
    random = np.random.default_rng([seed, max(nodes, 0)])
    network = square_network(nodes, random)
    home = roomy_node(network, SOURCE_AND_SINK_SLOTS, random)
    return Problem(APPLICATIONS[application](OPERATORS, home), network, Objective(weights))
