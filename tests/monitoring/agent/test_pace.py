"""Rules of the rate of probing."""

from __future__ import annotations

import random

from monitoring.agent.pace import Pace


def test_it_starts_fast_and_slows_down_after_the_stated_number_of_probes() -> None:
    pace = Pace(1.0, random.Random(0), startup_probes=10, startup_rate=4.0)
    delays_s = [pace.next_delay_s(sent=True) for _ in range(20)]
    assert all(0.22 <= delay <= 0.28 for delay in delays_s[:9])
    assert all(0.9 <= delay <= 1.1 for delay in delays_s[9:])


def test_waiting_for_the_first_peer_does_not_use_up_the_fast_phase() -> None:
    pace = Pace(1.0, random.Random(0))
    for _ in range(1000):
        pace.next_delay_s(sent=False)
    assert pace.next_delay_s(sent=True) < 0.3


def test_delays_vary_so_that_hosts_do_not_probe_in_step() -> None:
    pace = Pace(1.0, random.Random(0), startup_probes=0)
    delays_s = [pace.next_delay_s(sent=True) for _ in range(1000)]
    assert len(set(delays_s)) > 900
    assert 0.99 < sum(delays_s) / 1000 < 1.01
