"""How every turn runs; kept in the experiment's folder, so that it goes on as it began."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from experiments import folder
from experiments.errors import ExperimentError
from experiments.folder_content import KIND, LAB_TIERS
from experiments.running_lab import lab_sites
from formats.tier import TIERS

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from experiments.lab_tiers.variants import Variant
    from formats.site_file import SiteFile


@dataclass(frozen=True)
class LabTiersSettings:
    """How every turn runs.

    Attributes:
        data: Taxi rows, 17 columns, CSV or CSV.gz.
        sites: Site file of the emulated wide area, with tiers and costs.
        rate: Rows per second.
        overload_rate: The same of the turns under overload.
        together: How many rows come at once, which the source sends as one tuple.
        first_rows: Rows at the beginning of the file that are fed fast; all others come at the rate.
        warm_up_s: Seconds at the rate of which nothing is measured.
        rest_s: Seconds before a turn, and at its end, in which uplinks are looked at while no row comes.
        settle_s: Seconds before the first turn in which coordinates converge.
    """

    data: Path
    sites: Path
    rate: float
    overload_rate: float
    together: int
    first_rows: int
    warm_up_s: float
    rest_s: float
    settle_s: float

    @cached_property
    def site_file(self) -> SiteFile:
        """The site file.

        Raises:
            ExperimentError: It is none, or lacks tiers, costs or a narrow uplink at the site of Redis.
        """
        sites = lab_sites(self.sites)
        for site in sites.site:
            if not site.tier or not site.unit_cost:
                raise ExperimentError(f"--sites: {self.sites}: {site.name} needs tier and unit_cost")
        missing = set(TIERS) - {site.tier for site in sites.site}
        if missing:
            raise ExperimentError(f"--sites: {self.sites}: no site is of the tier {min(missing)}")
        for link in sites.link:
            if not link.cost and link.between[0] != link.between[1]:
                raise ExperimentError(
                    f"--sites: {self.sites}: the link {' - '.join(link.between)} needs cost"
                )
        if math.isinf(next(site.uplink_bytes_per_s for site in sites.site if site.name == sites.redis)):
            raise ExperimentError(f"--sites: {self.sites}: {sites.redis} needs uplink_bytes_per_s")
        return sites

    def rate_of(self, variant: Variant) -> float:
        """Return the rows per second of a variant."""
        return self.overload_rate if variant.overload else self.rate

    def warm_up_rows(self, variant: Variant) -> int:
        """Return the rows at the rate that do not count."""
        return math.ceil(self.warm_up_s * self.rate_of(variant))

    def measured_rows(self, variant: Variant, rows: int) -> int:
        """Return the rows that count, of a file of so many.

        Raises:
            ExperimentError: None is left.
        """
        measured = rows - self.first_rows - self.warm_up_rows(variant)
        if measured < self.together:
            raise ExperimentError(
                f"--first-rows, --warm-up-s: of the {rows} rows of {self.data} {max(measured, 0)} are left "
                f"for {variant.name}"
            )
        return measured

    def document(self) -> dict[str, JsonValue]:
        """Return what must stay the same within a folder, as JSON values."""
        return {KIND: LAB_TIERS} | folder.kept_settings(self)
