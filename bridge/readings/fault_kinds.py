"""The kinds of faulty input: what logs and metrics count by."""

from __future__ import annotations

from enum import StrEnum


class FaultKind(StrEnum):
    """What may be wrong with what a round is given; `docs/monitoring.md` says what each means."""

    READINGS_MALFORMED = "readings_malformed"
    READINGS_VERSION = "readings_version"
    READINGS_IMPOSSIBLE = "readings_impossible"
    READINGS_FOREIGN = "readings_foreign"
    READINGS_DUPLICATE = "readings_duplicate"
    READINGS_STALE = "readings_stale"
    READINGS_NOT_LIVE = "readings_not_live"
    COORDINATES_UNCERTAIN = "coordinates_uncertain"
    COORDINATES_CONTRADICTORY = "coordinates_contradictory"
    LINKS_IMPOSSIBLE = "links_impossible"
    LINKS_CONTRADICTORY = "links_contradictory"
    CLOCKS_OFF = "clocks_off"
    CLOCKS_BACK = "clocks_back"
    TWO_AGENTS = "two_agents"
    RATES_MALFORMED = "rates_malformed"
    RATES_VERSION = "rates_version"
    RATES_IMPOSSIBLE = "rates_impossible"
    RATES_FOREIGN = "rates_foreign"
    RATES_DUPLICATE = "rates_duplicate"
    RATES_STALE = "rates_stale"
    DRAINS = "drains"
    SUPERVISOR_METADATA = "supervisor_metadata"
    TOPOLOGY_SETTINGS = "topology_settings"
    TOPOLOGY_MALFORMED = "topology_malformed"
