"""The workloads by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.lab_elasticity.workloads.sleeping import Sleeping
from experiments.lab_elasticity.workloads.taxi_query import TaxiQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.lab_elasticity.workloads.workload import Workload, WorkloadName

BY_NAME: Mapping[WorkloadName, Workload] = {"sleeping": Sleeping(), "taxi": TaxiQuery()}
