"""Rules of the load reading."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from monitoring.load import Load, LoadMeter


@pytest.mark.parametrize(
    ("cpu_percent", "memory_percent", "expected"),
    [(0.0, 50.0, Load(0.0, 0.5)), (100.4, 12.5, Load(1.0, 0.125)), (-0.1, 100.0, Load(0.0, 1.0))],
)
def test_percentages_become_shares_from_0_to_1(
    monkeypatch: pytest.MonkeyPatch, cpu_percent: float, memory_percent: float, expected: Load
) -> None:
    monkeypatch.setattr(psutil, "cpu_percent", lambda interval: cpu_percent)  # noqa: ARG005 - psutil's name
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(percent=memory_percent))
    assert LoadMeter().read() == expected


def test_a_real_host_uses_some_memory() -> None:
    load = LoadMeter().read()
    assert 0 < load.memory <= 1
    assert 0 <= load.cpu <= 1
