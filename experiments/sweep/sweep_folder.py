"""The folder of a sweep: its settings, the finished runs, and the table made of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replay.errors import DataError, MachineError
from replay.output import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from experiments.sweep.sweep_plan import SweepPlan

SETTINGS = "sweep.json"
PARTS = "parts"
RUNS = "runs.parquet"
KIND = "sweep"
VERSION = 2


@dataclass(frozen=True)
class SweepFolder:
    """A folder that holds the runs of one sweep, growing from call to call.

    Attributes:
        path: The folder; `sweep.json` holds the settings, `parts` one file per finished run, `runs.parquet`
            all of them.
    """

    path: Path

    @property
    def parts(self) -> Path:
        """Folder with one Parquet file per finished run."""
        return self.path / PARTS

    @property
    def runs(self) -> Path:
        """Folder of Parquet with all runs."""
        return self.path / RUNS

    def open(self, plan: SweepPlan) -> frozenset[str]:
        """Make the folder ready for a sweep: a new one, or one of the same settings.

        Returns:
            Names of the parts that are there: finished runs.

        Raises:
            DataError: The folder holds something else, or results with another time limit, or of another
                instance with the same name; nothing was changed then.
        """
        known = self._known(plan)
        instances = {instance.name: instance.digest for instance in plan.instances}
        for name, digest in instances.items():
            if known.get(name, digest) != digest:
                raise DataError(
                    f"{self.path / SETTINGS}: instances.{name}: the folder holds results of another instance "
                    "of that name; choose another folder or name"
                )
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            for left in self.parts.glob(".*"):  # what a killed job was about to write
                with suppress(FileNotFoundError):
                    left.unlink()
        except OSError as error:
            raise MachineError(f"{self.path}: cannot be written: {error.strerror}") from error
        document = {"kind": KIND, "version": VERSION, **_limits(plan)}
        write_json(self.path / SETTINGS, document | {"instances": dict(sorted((known | instances).items()))})
        return self.finished()

    def finished(self) -> frozenset[str]:
        """Return the names of the parts that are there."""
        return frozenset(path.name for path in self.parts.glob("[!.]*.parquet"))

    def _known(self, plan: SweepPlan) -> dict[str, str]:
        """Return the digests of the instances by name that the folder has seen."""
        settings = self.path / SETTINGS
        if not settings.exists():
            if self.path.exists() and not self.path.is_dir():
                raise DataError(f"{self.path}: not a folder")
            if self.path.is_dir() and any(self.path.iterdir()):
                raise DataError(f"{self.path}: the folder holds other files; choose a new or empty one")
            return {}
        document: dict[str, Any] = read_json(settings)
        if document.get("kind") != KIND or document.get("version") != VERSION:
            raise DataError(f"{settings}: not the settings of a sweep of this version")
        for key, limit in _limits(plan).items():
            held, said = document.get(key), _SAID[key]
            if held != limit:
                raise DataError(
                    f"{settings}: {key}: the folder's runs were made with {said(held)}, not with "
                    f"{said(limit)}; choose another folder"
                )
        instances = document.get("instances")
        if not isinstance(instances, dict):
            raise DataError(f"{settings}: instances: expected an object")
        return instances


def _limits(plan: SweepPlan) -> dict[str, Any]:
    return {"time_limit_s": plan.time_limit_s, "until_deadline": plan.until_deadline}


_SAID: dict[str, Callable[[Any], str]] = {
    "time_limit_s": lambda seconds: "no time limit" if seconds is None else f"a time limit of {seconds:g} s",
    "until_deadline": lambda whole: "all of the time used" if whole else "strategies that end by themselves",
}
