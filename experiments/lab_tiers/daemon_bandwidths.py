"""Settings of the lab's placement daemon: the site file with its bandwidths, or without them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.sites import daemon_tables
from lab.storm_config import daemon_toml

if TYPE_CHECKING:
    from experiments.lab_steps import LabSteps
    from formats.site_file import SiteFile


def state_bandwidths(steps: LabSteps, sites: SiteFile, *, bandwidths: bool) -> None:
    """Let the daemon of a lab have the settings of a site file; one that has others is started anew.

    Args:
        steps: The steps of a lab that is up.
        sites: The lab's site file; the emulator keeps its bandwidths in any case.
        bandwidths: Whether they state bandwidths.

    Raises:
        lab.errors.LabError: The daemon does not end, or not start.
    """
    lab = steps.lab
    stated = sites if bandwidths else _without_bandwidths(sites)
    text = daemon_toml(lab.folder, stated.executors_per_host, daemon_tables(stated))
    path = lab.folder.daemon_settings
    if path.read_text(encoding="utf-8") == text:
        return
    path.write_text(text, encoding="utf-8")
    # under another scheduler there is none; it starts with its own
    if lab.status().scheduler == "stormplace":
        lab.stop_daemon()
        lab.start_daemon()


def _without_bandwidths(sites: SiteFile) -> SiteFile:
    return replace(
        sites,
        site=tuple(replace(site, uplink_bytes_per_s=math.inf) for site in sites.site),
        link=tuple(replace(link, bandwidth_bytes_per_s=math.inf) for link in sites.link),
    )
