"""The worked example of paper 003: three components, hosts of 2,048 shares and 2,560 MB, units of 600 s."""

from __future__ import annotations

from typing import Any

from scheduler.elasticity.leasing.btu_parameters import BtuParameters
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Host, HostStatus, Offer
from scheduler.elasticity.leasing.observation import ComponentReading

A = Component("A", slo_ms=1500, cpu=660, memory_mb=452)
F = Component("F", slo_ms=600, cpu=131, memory_mb=524)
R = Component("R", slo_ms=1300, cpu=47, memory_mb=452)
COMPONENTS = {"A": A, "F": F, "R": R}
OFFER = Offer(cpu=2048, memory_mb=2560, billing_unit_s=600, unit_cost=1)

RISING = (1400.0, 1450.0, 1500.0, 1600.0, 1700.0)
TREND = (400.0, 450.0, 500.0, 550.0, 580.0)
SHORT_QUEUE = (1200.0, 1250.0, 1280.0, 1350.0, 1320.0)
IN_TIME = (900.0, 950.0, 1000.0, 980.0, 990.0)


def parameters(**changed: Any) -> BtuParameters:
    """Return the constants of the paper's text, but for what is changed."""
    text = {"components": (A, F, R), "offer": OFFER, "queue_double": 1e9, "cooldown_s": 0.0}
    return BtuParameters(**{**text, **changed})


def host(
    name: str,
    ends: float,
    executors: dict[str, int],
    images: str = "AFR",
    status: HostStatus = "ready",
) -> Host:
    """Return a host of the offer."""
    there = {each: count for each, count in executors.items() if count}
    return Host(name, OFFER.cpu, OFFER.memory_mb, ends, there, frozenset(images), status)


def reading(
    component: str, durations: float | tuple[float, ...], queued: float, **more: float
) -> ComponentReading:
    """Return a reading with one duration or several."""
    series = durations if isinstance(durations, tuple) else (float(durations),)
    return ComponentReading(component, series, queued, **more)
