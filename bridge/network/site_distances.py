"""How far sites lie apart, from some hosts of each: for clusters with too many hosts for all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.network.site_matrix import site_cells
from bridge.network.site_medians import site_indices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from bridge.network.delays import Delays
    from bridge.network_settings import NetworkSettings
    from bridge.readings.believed import Readings
    from scheduler.base.arrays import FloatArray


def hosts_of_all_sites(hosts: Sequence[Host], readings: Readings, most: int) -> tuple[Host, ...]:
    """Choose hosts evenly from all sites, those with a reading first; all of them if they are few enough.

    Args:
        hosts: Hosts of the round.
        readings: Believed readings.
        most: Most hosts.

    Returns:
        The chosen hosts, in their order.
    """
    if len(hosts) <= most:
        return tuple(hosts)
    of_site: dict[str | None, list[int]] = {}
    for index, host in enumerate(hosts):
        of_site.setdefault(host.site, []).append(index)
    turns = [
        (turn, index)
        for members in of_site.values()
        for turn, index in enumerate(
            sorted(members, key=lambda each: hosts[each].name not in readings.by_host)
        )
    ]
    return tuple(hosts[index] for index in sorted(index for _, index in sorted(turns)[:most]))


def site_steps(
    delays: Delays, located: Sequence[Host], names: Sequence[str], settings: NetworkSettings
) -> FloatArray | None:
    """Return what it costs to go from site to site, in multiples of going from host to host within one.

    Args:
        delays: Delays between some hosts.
        located: These hosts.
        names: Names of the sites that are asked for, empty for hosts without one.
        settings: What holds where nothing is known.

    Returns:
        (n_names, n_names), at least 1 off the diagonal; None if nothing is known of any distance.
    """
    if delays.unknown:
        return None
    known, _ = site_indices(located)
    cells = {cell.sites: cell.delay_ms for cell in site_cells(delays) if cell.delay_ms is not None}
    overhead_ms = settings.hop_overhead_ms
    inside = [delay_ms - overhead_ms for (one, other), delay_ms in cells.items() if one == other < len(known)]
    local_ms = max(float(np.median(inside)) if inside else 0.0, settings.local_delay_ms)
    position = {name: index for index, name in enumerate(known)}
    at = [position.get(name, len(known)) for name in names]
    steps = np.full((len(names), len(names)), settings.unknown_delay_ms)
    for row, one in enumerate(at):
        for column, other in enumerate(at):
            delay_ms = cells.get((min(one, other), max(one, other)))
            if delay_ms is not None:
                steps[row, column] = delay_ms - overhead_ms
    steps = np.maximum(steps / local_ms if local_ms > 0 else steps, 1.0)
    np.fill_diagonal(steps, 0.0)
    return steps
