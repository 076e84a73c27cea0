"""All policies that scale topologies on one pool of hosts, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.elasticity.layers.one_pool import one_pool
from scheduler.elasticity.layers.one_pool.parameters import OnePoolParameters
from scheduler.elasticity.layers.one_pool.state import OnePoolState
from scheduler.elasticity.leasing.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICIES: Mapping[str, Kind] = {**KINDS, "layers": Kind(one_pool.decide, OnePoolParameters, OnePoolState())}
