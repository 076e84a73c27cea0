"""Puts the elastic loop together from its settings."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from formats.address import Address
from formats.counted import counted
from formats.nimbus import NimbusError
from provisioning.cluster.agents import Agents
from provisioning.cluster.drains import ZookeeperDrains
from provisioning.cluster.nimbus import HostUnlistedError, NimbusCluster
from provisioning.loop.active import ActiveLoop
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.memory import MemoryFile
from provisioning.loop.offers import alike
from provisioning.loop.pool import Pool
from provisioning.loop.record import RoundRecord
from provisioning.loop.seeing import Seeing
from provisioning.measuring.graphite import GraphiteReceiver
from provisioning.measuring.task_meters import TaskMeters
from provisioning.providers.making import make_provider, still_leased
from provisioning.providers.none import NoProvider
from provisioning.providers.provider import ProviderError, UnlistedHostError
from provisioning.run import Loop, Rounds, Watcher
from provisioning.saying import Saying
from provisioning.status import StatusFile

if TYPE_CHECKING:
    from cli.metrics import Metrics
    from formats.log import Log
    from monitoring.zookeeper.access import ZookeeperAuth
    from provisioning.providers.provider import HostOffer, Provider
    from provisioning.settings import ElasticSettings


_LONGEST_S = 120.0
"""Managers of hosts decide so often by default, and what failed is tried again sooner, s."""


def composed(
    settings: ElasticSettings, log: Log, auth: ZookeeperAuth | None, metrics: Metrics | None = None
) -> tuple[Rounds, GraphiteReceiver, TextIO]:
    """Return the loop, its receiver, which is not started yet, and the lock that it holds while it is open.

    Raises:
        ValueError: An address is none, or another loop runs with this state directory.
        ProviderError: A file of the provider is missing or faulty, or its service does not answer.
        OSError: The receiver's address cannot be listened on, or the folder cannot be made.
    """
    folder = Path(settings.state_directory)
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    cluster = NimbusCluster([Address.parse(each) for each in settings.nimbus.split(",")])
    meters = TaskMeters(time.time, settings.window_s)
    receiver = GraphiteReceiver(Address.parse(settings.graphite), meters.take)
    provider = _provider(settings, folder, cluster)
    offer, *further = _offers(settings, provider) or (None,)
    arguments = {} if auth is None else auth.client_arguments()
    drains = ZookeeperDrains(settings.zookeeper, settings.root, arguments)
    lags = {name: tuple(lag.reader() for lag in topology.lag) for name, topology in settings.topology.items()}
    agents = Agents(settings.zookeeper, settings.root, arguments)
    seeing = Seeing(settings, meters, lags, time.time(), agents)
    names = {
        mode: tuple(name for name, each in settings.topology.items() if each.mode == mode)
        for mode in ("active", "advise")
    }
    loops: dict[str, Loop] = {}
    # hosts that are leased go back also where nothing is scaled any more
    if names["active"] or settings.provider is not None:
        pool = Pool(settings, offer, names["active"], further=tuple(further))
        loops["active"] = ActiveLoop(
            pool, cluster, provider, drains, seeing, MemoryFile(folder / "active.json")
        )
    if names["advise"]:
        pool = Pool(settings, offer, names["advise"], further=tuple(further))
        loops["advise"] = AdvisingLoop(pool, seeing, MemoryFile(folder / "advice.json"))
    wanted = {*names["active"], *names["advise"]}
    record = RoundRecord(folder / "rounds.jsonl")
    status = status_file(settings)
    watcher = None if metrics is None else _watcher(metrics, provider, tuple(loops))
    # twice the longest time between two rounds that show the same
    periods = ("decide_interval_s", "region_period_s")
    lasts_s = 2.0 * max(_LONGEST_S, *(float(settings.policy.parameters.get(each, 0.0)) for each in periods))
    rounds = Rounds(
        lambda: cluster.look(wanted),
        meters,
        loops,
        record,
        status,
        settings.policy.kind,
        Saying(log, lasts_s),
        watcher,
    )
    return rounds, receiver, lock


def _watcher(metrics: Metrics, provider: Provider, modes: tuple[str, ...]) -> Watcher:
    from provisioning.metrics import ElasticMetrics  # noqa: PLC0415 - its library takes memory

    return ElasticMetrics(metrics.registry, provider.offers(), modes)


def _lock(folder: Path) -> TextIO:
    """Keep other loops from this folder: two would bring the cluster to two places."""
    file = (folder / "lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise ValueError(f"state_directory: another loop runs with {folder}") from error
    return file


def status_file(settings: ElasticSettings) -> StatusFile:
    """Return the file that says how the loop stands."""
    return StatusFile(Path(settings.state_directory) / "status.json")


def _provider(settings: ElasticSettings, folder: Path, cluster: NimbusCluster) -> Provider:
    def busy(host: str) -> bool:
        try:
            return cluster.has_workers(host)
        except NimbusError as error:
            kind = UnlistedHostError if isinstance(error, HostUnlistedError) else ProviderError
            raise kind(f"whether workers run on {host} is not known: {error}") from error

    table = settings.provider_settings
    if table is not None:
        return make_provider(table, folder, busy)
    if left := still_leased(folder):
        raise ProviderError(
            f"provider: missing, and without it {counted(left, 'leased host')} cannot go back"
        )
    return NoProvider()


def _offers(settings: ElasticSettings, provider: Provider) -> tuple[HostOffer, ...]:
    """Return what is leased, the preferred offer first; empty without a provider.

    Raises:
        ValueError: It is not clear which offers that are, or they are not alike.
    """
    offers = {each.name: each for each in provider.offers()}
    for name in settings.leased:
        if name not in offers:
            raise ValueError(f"leased: must be one of {', '.join(offers) or 'no offers'}, got {name!r}")
    if len(offers) > 1 and not settings.leased:
        raise ValueError(f"leased: missing, there are several offers: {', '.join(offers)}")
    found = tuple(offers[each] for each in dict.fromkeys(settings.leased)) or tuple(offers.values())
    for name in settings.limits.hosts_max_of:
        if name not in (each.name for each in found):
            raise ValueError(f"limits.hosts_max_of.{name}: this offer is not leased")
    if unlike := alike(found):
        raise ValueError(f"leased: {unlike}")
    for each in found:
        if each.boot_s >= settings.boot_timeout_s:
            raise ValueError(
                f"boot_timeout_s: hosts of {each.name} boot for {each.boot_s:g} s,"
                f" and are given up after {settings.boot_timeout_s:g} s"
            )
    return found
