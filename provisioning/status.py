"""How the loop stands: one file, replaced after each round, and the lines that it is read as."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from formats.state_file import write_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from provisioning.loop.report import Report

_OLD_S = 120.0
"""A status of before says nothing of now, s."""


class StatusError(Exception):
    """There is no status; the message is one sentence."""


def status_of(report: Report) -> dict[str, Any]:
    """Return what a round says of the present state, as JSON has it."""
    found: dict[str, Any] = {
        "time": report.now_s,
        "held": report.held,
        "limited": report.limited,
        "missing": list(report.faults),
    }
    if report.asked is not None:
        observation = report.asked.observation
        counts = Counter[str]()
        for host in observation.hosts:
            counts.update(host.executors)
        readings = {each.component: each for each in observation.readings}
        found["hosts"] = dict(Counter(each.status for each in observation.hosts))
        found["components"] = {
            each.name: {
                "executors": counts[each.name],
                "most": each.most,
                **(
                    {}
                    if (reading := readings.get(each.name)) is None
                    else {
                        "demand_per_s": reading.demand_per_s,
                        "service_ms": reading.service_ms,
                        "waiting": reading.waiting,
                    }
                ),
            }
            for each in report.asked.parameters.components
        }
    if report.decision is not None:
        found["why"] = [f"{each.about}: {each.why}" for each in report.decision.reasons]
        if report.decision.price is not None:
            found["price"] = asdict(report.decision.price)
    if report.savings is not None:
        found["savings"] = report.savings.figures()
    return found


class StatusFile:
    """The file.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: dict[str, Any] = {}

    def write(self, mode: str, report: Report) -> None:
        """Replace what is said of a mode.

        A round in which no policy was asked keeps what is known of hosts and components.

        Raises:
            OSError: It cannot be written.
        """
        self._last[mode] = {**self._last.get(mode, {}), **status_of(report)}
        write_state(self._path, self._last)

    def read(self) -> Mapping[str, Any]:
        """Return the status by mode.

        Raises:
            StatusError: There is none.
        """
        try:
            found: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise StatusError(f"{self._path}: there is none: no loop with these settings has run") from error
        except (OSError, ValueError) as error:
            raise StatusError(f"{self._path}: cannot be read ({error})") from error
        return found


def sentences(status: Mapping[str, Any], now_s: float) -> Iterator[str]:
    """Return the lines of a status.

    Args:
        status: By mode.
        now_s: Present time, s since 1970.
    """
    for mode, found in status.items():
        age_s = now_s - found["time"]
        old = ": there was no round since" if age_s > _OLD_S else ""
        yield f"{mode}, {age_s:.0f} s ago{old}"
        for key in ("held", "limited"):
            if found[key]:
                yield f"  {key}: {found[key]}"
        for each in found["missing"]:
            yield f"  missing: {each}"
        if "hosts" in found:
            yield f"  hosts: {', '.join(f'{count} {what}' for what, count in found['hosts'].items())}"
        for name, each in found.get("components", {}).items():
            yield f"  {name}: {_component(each)}"
        for each in found.get("why", ()):
            yield f"  because {each}"
        if "price" in found:
            yield f"  {_price(found['price'])}"
        if "savings" in found:
            yield f"  {_savings(found['savings'], found['time'])}"


def _component(found: Mapping[str, Any]) -> str:
    most = "" if found["most"] is None else f" of at most {found['most']}"
    if "waiting" not in found:
        return f"{found['executors']} executors{most}, no reading"
    demand, service = found["demand_per_s"], found["service_ms"]
    comes = "unknown demand" if demand is None else f"{demand:.3g} items/s come"
    takes = "unknown service time" if service is None else f"each takes {service:.3g} ms"
    return f"{found['executors']} executors{most}, {comes}, {takes}, {found['waiting']:.3g} wait"


def _price(found: Mapping[str, Any]) -> str:
    change = f", and the change {found['change']:.3g} once" if found["change"] else ""
    return (
        f"when paid time ended last, hosts that might go, late items and moves cost {found['cost']:.3g} for a"
        f" billing unit as decided{change}, {found['kept_cost']:.3g} with all as it was,"
        f" and {found['bound']:.3g} at least by any choice"
    )


def _savings(found: Mapping[str, Any], now_s: float) -> str:
    unknown_h = found.get("unknown_s", 0.0) / 3600.0
    unknown = f", but for {unknown_h:.2g} h in which not all components were measured" if unknown_h else ""
    return (
        f"in the last {(now_s - found['since_s']) / 3600.0:.2g} h it would have used"
        f" {found['host_s'] / 3600.0:.3g} host hours instead of {found['real_host_s'] / 3600.0:.3g},"
        f" {found['cost']:.3g} instead of {found['real_cost']:.3g} in money,"
        f" with {found['changes']:.0f} changes and {found['late_share']:.1%} of items late{unknown}"
    )
