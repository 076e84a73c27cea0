"""What all turns of an experiment share; kept in its folder, so that it goes on as it began."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.errors import UserError
from replay.experiment_folder import SETTINGS, SITES

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class ExperimentSettings:
    """How every turn runs.

    Attributes:
        data: Taxi rows, 17 columns, CSV or CSV.gz.
        sites: Site file of the emulated wide area.
        rate: Rows per second after the fast ones.
        warm_up_s: Seconds at that rate whose response times are cut off.
        measure_s: Seconds at that rate that count.
        settle_s: Seconds from the lab being ready to the first turn, in which coordinates converge.
        seed: Seed of the order.
    """

    data: Path
    sites: Path
    rate: float
    warm_up_s: float
    measure_s: float
    settle_s: float
    seed: int

    @property
    def warm_up_rows(self) -> int:
        """Rows of the warm-up."""
        return math.ceil(self.warm_up_s * self.rate)

    @property
    def measured_rows(self) -> int:
        """Rows that are measured."""
        return math.ceil(self.measure_s * self.rate)

    def fast_rows(self, rows: int) -> int:
        """Return how many of the file's rows are fed fast.

        Raises:
            UserError: The file has too few rows.
        """
        paced = self.warm_up_rows + self.measured_rows
        if paced > rows:
            raise UserError(
                f"--measure-s: {self.warm_up_s:g} + {self.measure_s:g} s at {self.rate:g} rows/s are {paced} "
                f"rows, more than the {rows} of {self.data}"
            )
        return rows - paced

    def document(self) -> dict[str, object]:
        """Return what must stay the same within a folder, as JSON values."""
        return {
            "data_sha256": _digest(self.data),
            "sites_sha256": _digest(self.sites),
            "rate": self.rate,
            "warm_up_s": self.warm_up_s,
            "measure_s": self.measure_s,
            "seed": self.seed,
        }


def open_folder(folder: Path, settings: ExperimentSettings) -> None:
    """Make the experiment's folder, or see that it belongs to one with the same settings.

    Raises:
        UserError: The folder is another experiment's or somebody else's, or cannot be written.
    """
    wanted = settings.document()
    kept = folder / SETTINGS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if kept.exists():
            present = json.loads(kept.read_text(encoding="utf-8"))
            differing = [key for key, value in wanted.items() if present.get(key) != value]
            if differing:
                raise UserError(
                    f"--out: {folder} holds an experiment with another {', '.join(differing)} ({SETTINGS}); "
                    "choose another folder"
                )
            return
        if any(folder.iterdir()):
            raise UserError(f"--out: {folder} holds other files; choose a new or empty folder")
        shutil.copyfile(settings.sites, folder / SITES)
        kept.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out: {folder} cannot be used: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"--out: {kept} is no JSON: {error}") from error


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
