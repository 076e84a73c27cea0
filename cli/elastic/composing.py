"""Puts the elastic loop together from its settings."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from formats.address import Address
from provisioning.cluster.drains import ZookeeperDrains
from provisioning.cluster.nimbus import NimbusCluster
from provisioning.loop.active import ActiveLoop
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.memory import MemoryFile
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from provisioning.measuring.graphite import GraphiteReceiver
from provisioning.measuring.task_meters import TaskMeters
from provisioning.providers.none import NoProvider
from provisioning.run import Loop, Rounds

if TYPE_CHECKING:
    from formats.log import Log
    from monitoring.zookeeper.access import ZookeeperAuth
    from provisioning.settings import ElasticSettings


def composed(
    settings: ElasticSettings, log: Log, auth: ZookeeperAuth | None
) -> tuple[Rounds, GraphiteReceiver]:
    """Return the loop and its receiver, which is not started yet.

    Raises:
        ValueError: An address is none.
        OSError: The receiver's address cannot be listened on, or the folder cannot be made.
    """
    folder = Path(settings.state_directory)
    folder.mkdir(parents=True, exist_ok=True)
    cluster = NimbusCluster([Address.parse(each) for each in settings.nimbus.split(",")])
    meters = TaskMeters(time.time, settings.window_s)
    receiver = GraphiteReceiver(Address.parse(settings.graphite), meters.take)
    provider = NoProvider()
    offers = provider.offers()
    offer = offers[0] if offers else None
    arguments = {} if auth is None else auth.client_arguments()
    drains = ZookeeperDrains(settings.zookeeper, settings.root, arguments)
    lags = {name: tuple(lag.reader() for lag in topology.lag) for name, topology in settings.topology.items()}
    seeing = Seeing(settings, meters, lags)
    names = {
        mode: tuple(name for name, each in settings.topology.items() if each.mode == mode)
        for mode in ("active", "advise")
    }
    loops: dict[str, Loop] = {}
    if names["active"]:
        pool = Pool(settings, offer, names["active"])
        loops["active"] = ActiveLoop(
            pool, cluster, provider, drains, seeing, MemoryFile(folder / "active.json")
        )
    if names["advise"]:
        pool = Pool(settings, offer, names["advise"])
        loops["advise"] = AdvisingLoop(pool, seeing, MemoryFile(folder / "advice.json"))
    wanted = {*names["active"], *names["advise"]}
    return Rounds(lambda: cluster.look(wanted), meters, loops, log), receiver
