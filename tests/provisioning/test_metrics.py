"""Metrics of the loop, scraped over loopback after real rounds on a made cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from cli.metrics import LOOPBACK
from cli.metrics_server import serving
from provisioning.loop.active import ActiveLoop
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.memory import MemoryFile
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from provisioning.metrics import ElasticMetrics
from provisioning.providers.provider import ProviderError
from tests.cli.test_metrics import scrape
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, World, settings_of
from tests.provisioning.test_run import Followed

if TYPE_CHECKING:
    from pathlib import Path

BOLT = f"[bolt][active][{TOPOLOGY}]"
"""Labels come in the order of their names."""


class Scraped:
    """Rounds of a loop on a world, and what a scraper reads then; names without what all begin with."""

    def __init__(self, world: World, folder: Path) -> None:
        self._registry = CollectorRegistry()
        metrics = ElasticMetrics(self._registry, world.offers(), ["active"], lambda: world.now_s)
        self.followed = Followed(world, folder, metrics)

    def after(self, rounds: int) -> dict[str, float]:
        self.followed.lines(rounds)
        return scraped(self._registry)


def scraped(registry: CollectorRegistry) -> dict[str, float]:
    with serving(registry, LOOPBACK, 0) as address:
        return {name.removeprefix("stormplace_elastic_"): value for name, value in scrape(address).items()}


def test_before_the_first_round_counts_are_0_and_the_rest_is_absent(tmp_path: Path) -> None:
    found = Scraped(World(), tmp_path).after(0)
    assert found["rounds_total[active][held]"] == found["steps_total[active][host_lost]"] == 0
    assert found["round_duration_seconds_count"] == 0
    assert not [each for each in found if each.startswith(("hosts", "executors", "last_round"))]


def test_more_load_shows_in_executors_hosts_and_money(tmp_path: Path) -> None:
    """Two executors on one host of its own take 20 items a second; 45 need another host."""
    world = World(demand_per_s=45.0)
    one = Scraped(world, tmp_path)
    found = one.after(14)
    assert found["rounds_total[active][decided]"] >= 1
    assert found["rounds_total[active][held]"] == found["rounds_held_total[active][change]"]
    assert found["steps_total[active][rebalanced]"] >= 1
    assert found["steps_total[active][host_up]"] == found["decided_total[host_leased][active]"] == 1
    assert found["reasons_total[active][grown]"] >= 1
    assert found["round_duration_seconds_count"] == 14
    assert found[f"demand_items_per_second{BOLT}"] == pytest.approx(45.0)
    assert found[f"service_seconds{BOLT}"] == pytest.approx(0.1)
    assert found[f"waiting_items{BOLT}"] == 0.0
    running = sum(each.component == "bolt" for each in world.executors())
    assert found[f"executors{BOLT}"] == found[f"executors_wanted{BOLT}"] == running > 2
    assert found["hosts[active][ready]"] == found["hosts_wanted[active]"] == 2
    assert found["hosts_leased[active]"] == 1
    assert found["cost_per_hour[active]"] == pytest.approx(OFFER.unit_cost * 3600.0 / OFFER.billing_unit_s)
    assert found["last_round_timestamp_seconds[active]"] == world.now_s - ROUND_S


def test_what_is_wanted_is_ahead_of_what_is_there(tmp_path: Path) -> None:
    """Until the change has come about."""
    one = Scraped(World(demand_per_s=45.0), tmp_path)
    found = next(
        found for found in (one.after(1) for _ in range(14)) if found["rounds_total[active][decided]"]
    )
    started = found["decided_total[executor_started][active]"]
    assert started > 0
    assert found[f"executors_wanted{BOLT}"] == found[f"executors{BOLT}"] + started
    assert found["hosts_wanted[active]"] == found["hosts[active][ready]"] + 1


def test_readings_grow_old_between_rounds_and_while_nimbus_is_silent(tmp_path: Path) -> None:
    """What was known stays, with its age; a round of which nothing comes is counted."""
    one = Scraped(World(), tmp_path)
    before = one.after(5)
    one.followed.silent = True
    after = one.after(4)
    key = f"reading_age_seconds{BOLT}"
    assert after[key] - before[key] == pytest.approx(4 * ROUND_S)
    assert after["rounds_total[active][nimbus_silent]"] == 4
    assert after[f"executors{BOLT}"] == before[f"executors{BOLT}"]


def test_a_fault_of_a_round_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Scraped(World(), tmp_path)
    monkeypatch.setattr(ActiveLoop, "round", lambda *_: 1 / 0)
    assert one.after(3)["rounds_total[active][failed]"] == 3


def test_what_is_not_known_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    one = Scraped(world, tmp_path)

    def silent(_: float) -> None:
        raise ProviderError("it does not answer")

    monkeypatch.setattr(world, "leases", silent)
    found = one.after(2)
    assert found["rounds_held_total[active][provider]"] == 2
    assert not [each for each in found if each.startswith(("hosts_leased", "cost_per_hour"))]


def test_rounds_are_held_while_a_change_is_under_way(tmp_path: Path) -> None:
    """Three executors would have no place."""
    found = Scraped(World(demand_per_s=45.0, places=2), tmp_path).after(4)
    assert found["rounds_total[active][held]"] == found["rounds_held_total[active][change]"] > 0


def test_silent_workers_are_missing(tmp_path: Path) -> None:
    one = Scraped(World(spoken=False), tmp_path)
    found = one.after(8)
    assert found["missing[active]"] >= 1
    assert found["reasons_total[active][held]"] >= 1
    assert f"demand_items_per_second{BOLT}" not in found


def test_what_advice_would_have_saved(tmp_path: Path) -> None:
    """Of three hosts one does."""
    world = World(own_hosts=("own-1", "own-2", "own-3"), demand_per_s=5.0)
    settings = settings_of(limits={"hosts_min": 1}, topology={TOPOLOGY: {"pause_s": 0.1}})
    seeing, file = Seeing(settings, world, {}), MemoryFile(tmp_path / "advice.json")
    loop = AdvisingLoop(Pool(settings, OFFER, (TOPOLOGY,)), seeing, file)
    registry = CollectorRegistry()
    metrics = ElasticMetrics(registry, (), ["advise"], lambda: world.now_s)
    for _ in range(241):
        report = loop.round(world.look(), world.now_s)
        metrics.on_report("advise", report)
        world.now_s += ROUND_S
    found = scraped(registry)
    assert report.savings is not None
    assert found["advice_saved_cost[advise]"] == report.savings.real_cost - report.savings.cost > 0.0
    assert found["advice_saved_host_seconds[advise]"] > 0.0
    assert found["advice_late_ratio[advise]"] == 0.0
    assert "hosts_leased[advise]" not in found
