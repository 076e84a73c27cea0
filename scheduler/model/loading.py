"""What nodes load when operators come: their images, unless a node holds them, and their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import ModelError, shown

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.model.application import Application
    from scheduler.model.network import Network


def held(application: Application, network: Network) -> BoolArray | None:
    """(n_ops, n_nodes) whether the image of an operator is on a node already; None if none is anywhere.

    Raises:
        ModelError: A node holds the image of an operator that does not exist.
    """
    if not any(node.holds for node in network.nodes):
        return None
    found = np.zeros((len(application.operators), len(network.nodes)), dtype=np.bool_)
    for u, node in enumerate(network.nodes):
        for k, name in enumerate(node.holds):
            if name not in application.index:
                raise ModelError(f"network.nodes[{u}].holds[{k}]", f"{shown(name)} is not an operator")
            found[application.index[name], u] = True
    return found


def load_mb(application: Application, network: Network) -> FloatArray:
    """(n_ops, n_nodes) MB that a node loads when an operator comes to it.

    Raises:
        ModelError: As of `held`.
    """
    there = held(application, network)
    image, state = application.image_mb[:, None], application.state_mb[:, None]
    own = image + state if there is None else np.where(there, 0.0, image) + state
    return np.broadcast_to(own, (len(application.operators), len(network.nodes)))
