"""How every turn runs; kept in the experiment's folder, so that it goes on as it began."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from experiments import folder
from experiments.errors import ExperimentError
from experiments.folder_content import KIND, REPLACEMENT
from experiments.running_lab import lab_sites
from scheduler.base.checks import ModelError
from scheduler.instances.document import parse_instance

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from experiments.replacement.cluster.variants import Variant
    from formats.site_file import SiteFile
    from scheduler.model.problem import Problem

JOINS_AT = 0.4
"""Share of a run after which the late host joins (paper 001: after 20 of 50 minutes)."""
DRAINED_AT, GIVEN_BACK_AT = 0.1, 0.55
"""Shares of the run in which the fog is drained."""


@dataclass(frozen=True)
class ReplacementSettings:
    """How every turn runs.

    Attributes:
        data: Instance file: the application, and the hosts as the model sees them.
        sites: Site file of the emulated wide area; one of its hosts joins later.
        run_s: Measured seconds of a turn in which executors may move.
        still_s: The same of a turn in which none does.
        drain_s: The same of the turn with the drain.
        warm_up_s: Seconds before, of which nothing is measured.
        settle_s: Seconds before the first turn in which coordinates converge.
    """

    data: Path
    sites: Path
    run_s: float
    still_s: float
    drain_s: float
    warm_up_s: float
    settle_s: float

    @cached_property
    def problem(self) -> Problem:
        """The instance.

        Raises:
            ExperimentError: It is none.
        """
        try:
            return parse_instance(json.loads(self.data.read_text(encoding="utf-8")))
        except (OSError, ValueError, ModelError) as error:
            raise ExperimentError(f"--data: {self.data}: {error}") from error

    @cached_property
    def site_file(self) -> SiteFile:
        """The site file.

        Raises:
            ExperimentError: It is none, or the model does not know its hosts.
        """
        sites = lab_sites(self.sites)
        nodes = {node.name for node in self.problem.network.nodes}
        if nodes != set(sites.hosts):
            raise ExperimentError(
                f"--sites: its hosts are {', '.join(sites.hosts)}, but those of {self.data} are "
                f"{', '.join(sorted(nodes))}"
            )
        return sites

    @property
    def late_host(self) -> str:
        """The host that joins later.

        Raises:
            ExperimentError: There is not one.
        """
        late = [each.name for each in self.site_file.host if not each.joined]
        if len(late) != 1:
            raise ExperimentError(f"--sites: {len(late)} hosts have joined = false, there must be one")
        return late[0]

    @property
    def drained_site(self) -> str:
        """The site of the host that joins later."""
        return self.site_file.hosts[self.late_host]

    @property
    def rate(self) -> float:
        """Tuples per second that sources emit."""
        application = self.problem.application
        targets = {stream.target for stream in application.streams if stream.critical}
        return math.fsum(each.rate for each in application.streams if each.source not in targets)

    def duration_s(self, variant: Variant) -> float:
        """Return the measured seconds of a variant's turn."""
        if variant.drains:
            return self.drain_s
        return self.run_s if variant.moves else self.still_s

    def tuples(self, variant: Variant) -> int:
        """Return how many tuples are measured."""
        return math.ceil(self.duration_s(variant) * self.rate)

    def document(self) -> dict[str, JsonValue]:
        """Return what must stay the same within a folder, as JSON values."""
        return {KIND: REPLACEMENT} | folder.kept_settings(self)
