from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.near_nodes import candidates

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def test_candidates_are_the_nodes_in_use_and_others_around_them(wide_network: Problem) -> None:
    """As many as asked for, each once, in ascending order, nearer ones first."""
    used = np.array([700, 704, 20])
    nodes = candidates(wide_network, used, 60)
    delay = wide_network.network.delays.block(nodes, used).min(axis=1)
    everywhere = wide_network.network.delays.block(np.arange(1500), used).min(axis=1)

    assert len(nodes) == 60
    assert set(used) <= set(nodes.tolist())
    assert (np.diff(nodes) > 0).all()
    assert np.median(delay) < np.median(everywhere) / 2


def test_candidates_reach_many_sites(wide_network: Problem) -> None:
    """Each site sends its best node in turn, so a search can leave the neighbourhood it began in."""
    nodes = candidates(wide_network, np.array([5]), 60)

    assert len({wide_network.network.nodes[u].site for u in nodes}) >= 15


def test_nodes_in_use_alone_fill_the_list(wide_network: Problem) -> None:
    """Where nothing else has room, they are the candidates."""
    used = np.arange(0, 1500, 10)

    assert candidates(wide_network, used, len(used)).tolist() == used.tolist()
