"""Carries out the steps of a schedule on the lab, notes what was done, and puts everything back."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from experiments.adaptation.report.kept import Event
from experiments.adaptation.schedule import NOISE
from experiments.lab_steps import StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from experiments.adaptation.report.kept import EventKind
    from experiments.adaptation.schedule import Pair, Step
    from formats.site_file import SiteFile
    from lab.cluster import LabClient

FACTOR = 3.0
"""What the delay of the link in use is multiplied by."""


def site_delays(sites: SiteFile) -> dict[Pair, float]:
    """Return the site file's delay of each pair of sites, ms, one way."""
    names = [site.name for site in sites.site]
    table = sites.delays_ms()
    return {(names[a], names[b]): table[a][b] for a, b in combinations(range(len(names)), 2)}


def remote_site(placement: str, home: str) -> str:
    """Return the site other than home where most of the query's executors run; the first name among equals.

    Args:
        placement: What `taxi placement` prints, JSON. Storm's own executors do not count.
        home: The site to leave out.

    Raises:
        StepError: They all run at home.
    """
    hosts: list[str] = [
        each["host"]
        for each in json.loads(placement)["executors"]
        if not each["component"].startswith("__") and each["host"]
    ]
    # a host of the lab is named after its site and numbered
    count = Counter(site for host in hosts if (site := host.rpartition("-")[0]) != home)
    if not count:
        raise StepError(f"the query runs at {home} alone: no other site is in use that could change")
    return min(count, key=lambda site: (-count[site], site))


class Network:
    """The emulated wide area of one scenario.

    Args:
        lab: The lab, up, as its site file says.
        sites: The site file.
        placement: Asks Nimbus where the query runs.
        wall_s: Unix time.
        show: Shows an event to the user.
    """

    def __init__(
        self,
        lab: LabClient,
        sites: SiteFile,
        placement: Callable[[], str],
        wall_s: Callable[[], float],
        show: Callable[[str], None],
    ) -> None:
        self.home = sites.services
        self.events: list[Event] = []
        self._lab = lab
        self._true_ms = site_delays(sites)
        self._placement = placement
        self._wall_s = wall_s
        self._show = show
        self._changed: set[Pair] = set()
        self._isolated: list[str] = []

    def carry_out(self, step: Step) -> None:
        """Do one step; its event is noted when the lab has confirmed it.

        Raises:
            StepError: Nimbus does not say where the query runs, or it runs at home alone.
            lab.errors.LabError: The lab refuses.
        """
        match step.kind:
            case "delay":
                self._lengthen()
            case "isolate":
                self._isolate()
            case "rejoin":
                self._rejoin()
            case "noise":
                self._set(step.delays_ms)
                text = f"delays between all sites drawn anew, within {NOISE:.0%} of the site file's"
                self._note("noise", self._names(), text, delays_ms=step.delays_ms)

    def restore(self) -> None:
        """Put back what still differs from the site file.

        Raises:
            lab.errors.LabError: The lab refuses.
        """
        touched = {*self._isolated, *(name for pair in self._changed for name in pair)}
        if not touched:
            return
        for site in self._isolated:
            self._lab.rejoin(site)
        self._isolated.clear()
        delays_ms = tuple((pair, self._true_ms[pair]) for pair in self._true_ms if pair in self._changed)
        self._set(delays_ms)
        self._changed.clear()
        names = [name for name in self._names() if name in touched]
        self._note("restore", names, "everything as in the site file again", delays_ms=delays_ms)

    def _lengthen(self) -> None:
        remote = remote_site(self._placement(), self.home)
        pair = next(pair for pair in self._true_ms if {self.home, remote} == set(pair))
        before_ms = self._true_ms[pair]
        after_ms = before_ms * FACTOR
        self._set([(pair, after_ms)])
        self._note(
            "delay",
            [self.home, remote],
            f"delay {self.home} - {remote}: {before_ms:g} ms, now {after_ms:g} ms",
            delay_ms=after_ms,
            delays_ms=[(pair, after_ms)],
        )

    def _isolate(self) -> None:
        remote = remote_site(self._placement(), self.home)
        # noted first: a lab that fails half-way may have cut it off
        self._isolated.append(remote)
        self._lab.isolate(remote)
        self._note("isolate", [remote], f"{remote} is cut off from all other sites")

    def _rejoin(self) -> None:
        for site in tuple(self._isolated):
            self._lab.rejoin(site)
            self._isolated.remove(site)
            self._note("rejoin", [site], f"{site} is joined to all other sites again")

    def _set(self, delays_ms: Iterable[tuple[Pair, float]]) -> None:
        for pair, ms in delays_ms:
            self._changed.add(pair)
            self._lab.set_delay(*pair, ms)

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for pair in self._true_ms for name in pair))

    def _note(
        self,
        kind: EventKind,
        sites: Iterable[str],
        text: str,
        *,
        delay_ms: float | None = None,
        delays_ms: Iterable[tuple[Pair, float]] = (),
    ) -> None:
        self.events.append(
            Event(
                time_s=self._wall_s(),
                kind=kind,
                sites=tuple(sites),
                delay_ms=delay_ms,
                delays=tuple((*pair, ms) for pair, ms in delays_ms),
                text=text,
            )
        )
        self._show(text)
