"""How every turn runs; kept in the experiment's folder, so that it goes on as it began."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from experiments import folder
from experiments.elasticity.scenario_file import ScenarioError, read_scenario
from experiments.errors import ExperimentError
from experiments.folder_content import ELASTICITY, KIND
from experiments.lab_elasticity.profiles import due_times, profile
from experiments.lab_elasticity.sizes import hosts_for, sizes_for
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from experiments.running_lab import lab_sites

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from experiments.elasticity.loads import Floats
    from experiments.lab_elasticity.profiles import Profile, ProfileName
    from experiments.lab_elasticity.workloads.workload import Workload, WorkloadName
    from formats.site_file import SiteFile

FIRST_S = 30.0
"""So long is the beginning, s."""


@dataclass(frozen=True)
class LabElasticitySettings:
    """How every turn runs.

    Attributes:
        data: Scenario file with the taxis' week.
        sites: Site file of the lab; hosts with `joined = false` are those that can be leased.
        workload: What is scaled.
        load: Which profile.
        run_s: Measured seconds of a turn.
        warm_up_s: Seconds at the first rate before, of which nothing is measured.
        unit_rate: Items/s of one unit of load.
        bound_s: Response time above which an item is late, s.
        billing_unit_s: What has been started of one is paid whole, s.
        kills: How often the loop is killed in a turn, at random moments.
        seed: Of arrivals and of those moments.
        settle_s: Seconds before the first turn in which coordinates converge.
    """

    data: Path
    sites: Path
    workload: WorkloadName
    load: ProfileName
    run_s: float
    warm_up_s: float
    unit_rate: float
    bound_s: float
    billing_unit_s: float
    kills: int
    seed: int
    settle_s: float

    @cached_property
    def site_file(self) -> SiteFile:
        """The site file.

        Raises:
            ExperimentError: It is none, does not count executors, or has too few hosts for the peak.
        """
        sites = lab_sites(self.sites)
        if sites.executors_per_host is None:
            raise ExperimentError(f"--sites: {self.sites}: executors_per_host is missing")
        spare = [each.name for each in sites.host if not each.joined]
        if not spare:
            raise ExperimentError(f"--sites: {self.sites}: no [[host]] has joined = false")
        needed = hosts_for(self.scaled, self.peak, sites.executors_per_host)
        if needed > len(sites.hosts):
            raise ExperimentError(
                f"--unit-rate: the peak needs {needed} hosts, and {self.sites} has {len(sites.hosts)}"
            )
        at_first = sizes_for(self.scaled, self.first_rate)
        first = hosts_for(self.scaled, at_first, sites.executors_per_host)
        if first > len(sites.hosts) - len(spare):
            raise ExperimentError(
                f"--unit-rate: the first rate needs {first} hosts, and {len(sites.hosts) - len(spare)} of"
                f" {self.sites} are always there"
            )
        return sites

    @property
    def scaled(self) -> Workload:
        """What is scaled."""
        return BY_NAME[self.workload]

    @property
    def first_rate(self) -> float:
        """The rate at the beginning, items/s, for which elastic turns have executors."""
        return self.profile.highest(FIRST_S, FIRST_S)

    @property
    def executors_per_host(self) -> int:
        """Executors that have room on a host."""
        return self.site_file.executors_per_host or 1

    @property
    def spare(self) -> tuple[str, ...]:
        """Hosts that can be leased."""
        return tuple(each.name for each in self.site_file.host if not each.joined)

    @property
    def fixed(self) -> tuple[str, ...]:
        """Hosts that are always there."""
        return tuple(name for name in self.site_file.hosts if name not in self.spare)

    @property
    def peak(self) -> Mapping[str, int]:
        """The executors that the highest rate needs, by component that is scaled."""
        return sizes_for(self.scaled, self.peak_rate)

    @property
    def peak_rate(self) -> float:
        """The highest rate, items/s; what is higher for less than the bound is made up for within it."""
        return self.profile.highest(self.run_s, self.bound_s)

    @property
    def static_hosts(self) -> int:
        """Hosts of the static turn: as many as the peak needs, and no fewer than are always there."""
        return max(hosts_for(self.scaled, self.peak, self.executors_per_host), len(self.fixed))

    @cached_property
    def profile(self) -> Profile:
        """The load.

        Raises:
            ExperimentError: The scenario has no such load.
        """
        try:
            loads = read_scenario(self.data).load
        except ScenarioError as error:
            raise ExperimentError(f"--data: {error}") from error
        return profile(self.load, self.run_s, self.unit_rate, self.seed, loads)

    def due_s(self) -> Floats:
        """Return when items are due, s since the start of what is measured; the same in every turn.

        Raises:
            ExperimentError: The workload has not so many.
        """
        due = due_times(self.profile, self.run_s, self.warm_up_s, self.seed)
        most = self.scaled.most_items
        if most is not None and len(due) > most:
            raise ExperimentError(
                f"--unit-rate: {len(due)} items are due, and the workload {self.workload} has {most}"
            )
        return due

    def document(self) -> dict[str, JsonValue]:
        """Return what must stay the same within a folder, as JSON values."""
        return {KIND: ELASTICITY} | folder.kept_settings(self)
