"""Keeps a number of idle hosts ready (paper 004, section 6.1)."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.base.checks import number, whole_number
from scheduler.elasticity.managers import why_held
from scheduler.elasticity.region_manager.report import RegionObservation, RegionReport, RegionRequest


@dataclass(frozen=True, kw_only=True)
class IdlePoolParameters:
    """How many hosts are idle.

    Attributes:
        hosts_max: K_max,r (>= hosts_min).
        hosts_min: Hosts that are never given back (>= 0).
        idle_hosts: N_idle (>= 0).
        sample_age_max_s: Age above which a report decides nothing, s (> 0).
    """

    hosts_max: int
    hosts_min: int = 0
    idle_hosts: int = 1
    sample_age_max_s: float = 120.0

    def __post_init__(self) -> None:
        whole_number("hosts_min", self.hosts_min, 0)
        whole_number("hosts_max", self.hosts_max, self.hosts_min)
        whole_number("idle_hosts", self.idle_hosts, 0)
        number("sample_age_max_s", self.sample_age_max_s, above=0.0)


@dataclass(frozen=True)
class IdlePoolState:
    """Memory of the manager: none."""


def idle_pool_action(report: RegionReport, parameters: IdlePoolParameters) -> int:
    """Return +1, -n or 0.

    spare = idle + booting - N_idle: below 0 one more while k < K_max, above 0 all idle ones of it less. The
    paper does not mention booting hosts; not counted, one more would be ordered in each period until the
    first is up.
    """
    spare = report.idle + report.booting - parameters.idle_hosts
    if spare < 0:
        return 1 if report.active < parameters.hosts_max else 0
    return -max(0, min(spare, report.idle, report.active - parameters.hosts_min))


def decide(
    observation: RegionObservation,
    state: IdlePoolState,
    parameters: IdlePoolParameters,
    seed: int,
) -> tuple[RegionRequest, IdlePoolState]:
    """Ask for a host more, or for giving idle ones back.

    Args:
        observation: The last report.
        state: What the last call returned.
        parameters: Of the manager.
        seed: Without effect: nothing is drawn.
    """
    del seed
    report = observation.sample
    held = why_held(observation.now_s, report, observation.changed_s, parameters.sample_age_max_s)
    if report is None or held:
        return RegionRequest("" if report is None else report.region, 0, "held", held), state
    action = idle_pool_action(report, parameters)
    short = report.idle + report.booting < parameters.idle_hosts
    why = f"{report.idle} hosts are idle and {report.booting} boot, {parameters.idle_hosts} are to be"
    if action == 0 and short:
        at_most = f"{why}, but there are {parameters.hosts_max} at most"
        return RegionRequest(report.region, 0, "limited", at_most), state
    return RegionRequest(report.region, action, "asked" if action else "kept", why), state
