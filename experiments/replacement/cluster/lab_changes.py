"""What is done to the lab while tuples come: a host joins, a site is drained and given back."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from experiments.lab_steps import StepError
from experiments.replacement.cluster.cluster_settings import DRAINED_AT, GIVEN_BACK_AT, JOINS_AT
from experiments.replacement.cluster.kept import LabEvent
from lab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.lab_steps import LabSteps
    from experiments.replacement.cluster.cluster_settings import ReplacementSettings
    from experiments.replacement.cluster.kept import EventKind
    from experiments.replacement.cluster.variants import Variant

ZOOKEEPER = "nimbus:2181"
EMPTY_WITHIN_S = 180.0


@dataclass(frozen=True)
class Change:
    """One thing to do.

    Attributes:
        at_s: When, in seconds after the first tuple of the warm-up.
        kind: What.
        place: The host that joins, or the site that is drained.
    """

    at_s: float
    kind: EventKind
    place: str


def changes(settings: ReplacementSettings, variant: Variant) -> tuple[Change, ...]:
    """Return what is done in a turn."""
    run_s = settings.duration_s(variant)
    if not variant.drains:
        return (Change(settings.warm_up_s + JOINS_AT * run_s, "join", settings.late_host),)
    site = settings.drained_site
    return (
        Change(settings.warm_up_s + DRAINED_AT * run_s, "drain", site),
        Change(settings.warm_up_s + GIVEN_BACK_AT * run_s, "undrain", site),
    )


@dataclass
class LabChanges:
    """Carries changes out and notes them.

    Attributes:
        steps: The steps of a lab that is up.
        folder: Folder of the logs.
        events: What was done, in order.
    """

    steps: LabSteps
    folder: Path
    events: list[LabEvent] = field(default_factory=list)

    def carry_out(self, change: Change) -> None:
        """Do one thing; a command that does not work is noted.

        Raises:
            lab.errors.LabError: The lab refuses.
        """
        begun_s, failure = time.time(), None
        if change.kind == "join":
            self.steps.lab.join(change.place)
        else:
            wait = ["--wait", f"{EMPTY_WITHIN_S:g}"] if change.kind == "drain" else []
            try:
                self._call(change.kind, ["--site", change.place, *wait])
            except StepError as error:
                failure = str(error)
        event = LabEvent(
            time_s=begun_s,
            kind=change.kind,
            took_s=time.time() - begun_s,
            failure=failure,
            text=_TEXT[change.kind].format(change.place),
        )
        self.events.append(event)

    def give_back(self) -> None:
        """Undrain what a turn that failed has left; with a lab that is gone it is gone too."""
        if any(each.kind == "drain" for each in self.events):
            with suppress(StepError, LabError):
                self._call("undrain", ["--all"])

    def _call(self, command: EventKind, arguments: list[str]) -> None:
        log = self.folder / f"{command}.log"
        self.steps.run("nimbus", command, [*arguments, "--zookeeper", ZOOKEEPER], log)


_TEXT: dict[EventKind, str] = {
    "join": "{} joins",
    "drain": "{} is drained",
    "undrain": "{} is given back",
}
