"""Rules of the load reading."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from monitoring.agent.load import LoadMeter, listening_ports

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("cpu_percent", "memory_percent", "expected"),
    [(0.0, 50.0, (0.0, 0.5)), (100.4, 12.5, (1.0, 0.125)), (-0.1, 100.0, (0.0, 1.0))],
)
def test_percentages_become_shares_from_0_to_1(
    monkeypatch: pytest.MonkeyPatch, cpu_percent: float, memory_percent: float, expected: tuple[float, float]
) -> None:
    monkeypatch.setattr(psutil, "cpu_percent", lambda interval: cpu_percent)  # noqa: ARG005 - psutil's name
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(percent=memory_percent))
    load = LoadMeter().read()
    assert (load.cpu, load.memory) == expected


def test_the_run_queue_is_runnable_threads_per_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "getloadavg", lambda: (6.0, 1.0, 1.0))
    monkeypatch.setattr(psutil, "cpu_count", lambda: 4)
    assert LoadMeter().read().run_queue == 1.5


def test_a_real_host_uses_some_memory() -> None:
    load = LoadMeter().read()
    assert 0 < load.memory <= 1
    assert 0 <= load.cpu <= 1
    assert load.run_queue >= 0


def test_without_slot_ports_slots_are_not_known_and_not_zero() -> None:
    load = LoadMeter().read()
    assert (load.slots_used, load.slots) == (None, None)


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::")])
def test_a_slot_is_used_while_somebody_listens_on_its_port(
    family: socket.AddressFamily, address: str
) -> None:
    with socket.socket(family) as worker, socket.socket(family) as idle:
        for one in (worker, idle):
            one.bind((address, 0))
        worker.listen()
        meter = LoadMeter([one.getsockname()[1] for one in (worker, idle)])
        load = meter.read()
        assert (load.slots_used, load.slots) == (1, 2)
        worker.close()
        assert meter.read().slots_used == 0


def test_a_connection_from_a_slot_s_port_is_no_listener(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    table.write_text(
        "  sl  local_address rem_address   st tx_queue\n"
        "   0: 0100007F:1A2C 00000000:0000 0A 00000000:00000000\n"
        "   1: 0100007F:1A2D 0100007F:1F90 01 00000000:00000000\n"
    )
    assert listening_ports((table, tmp_path / "tcp6")) == {6700}


def test_a_system_without_the_kernel_s_tables_does_not_know(tmp_path: Path) -> None:
    assert listening_ports((tmp_path / "tcp",)) is None
