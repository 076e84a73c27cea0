"""The query of a turn as it is submitted: where its ends are, and what the daemon is to know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.topologies.description import Turn
from experiments.topologies.taxi_query import at_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.lab_tiers.lab_tiers_settings import LabTiersSettings
    from experiments.lab_tiers.variants import VariantTurn
    from experiments.topologies.description import Description

WEIGHTS: Mapping[str, float] = {"placement_cost": 0.5, "link_cost": 0.5}
"""Alpha = 0.5, as in paper 002."""
EXECUTORS_PER_HOST = 3

_BYTES: Mapping[str, tuple[float, float]] = {
    "dataSource": (61.0, 191.1),
    "parser": (94.0, 63.9),
    # the mean of its two streams
    "filterByCoordinates": (74.0, 39.8),
    "computeRouteID": (140.0, 32.2),
    "metronome": (107.0, 3.9),
    "countByWindow": (276.0, 69.0),
    "partialRank": (311.0, 8.3),
}
"""Bytes of a tuple as Storm serialises it, and of each row in it: what the query's components emit for the
46,450 rows, one after the other in one process."""
_JOIN = "countByWindow"
"""It takes two tuples for each that it emits."""


def tuple_bytes(together: int) -> dict[str, float]:
    """Return the mean size of a tuple of so many rows by component, bytes."""
    return {name: round(own + each * together, 1) for name, (own, each) in _BYTES.items()}


def describe(settings: LabTiersSettings, turn: VariantTurn, query: Description, measured_rows: int) -> Turn:
    """Describe a turn; what only Stormplace understands is for it alone.

    Args:
        settings: How every turn runs.
        turn: Which one.
        query: The taxi query.
        measured_rows: Rows that count.
    """
    variant = turn.variant
    rate = settings.rate_of(variant)
    tuples_per_s = rate / settings.together
    conf: dict[str, object] = {"topology.stats.sample.rate": 1.0}
    pins: dict[str, str] = {}
    if variant.strategy is not None:
        # the place of the source and of the user who waits for results: the gateway where Redis stands
        home = settings.site_file.redis
        pins = dict.fromkeys(query.ends, f"host:{home}-1")
        source, sink = query.ends
        conf |= {
            # outside Storm: rows come from Redis, results go there
            "topology.stormplace.origin": {source: f"site:{home}"},
            "topology.stormplace.destination": {sink: f"site:{home}"},
            "topology.stormplace.weights": dict(WEIGHTS),
            # until rates are measured; a placement that respects bandwidths has to know them
            "topology.stormplace.rates": {"dataSource": tuples_per_s, _JOIN: tuples_per_s},
            "topology.stormplace.tuple.bytes": tuple_bytes(settings.together),
            # the placement under test is the first one: a move would lose the query's window
            "topology.stormplace.frozen": True,
        }
    paced_rows = settings.warm_up_rows(variant) + measured_rows
    return Turn(
        turn.label,
        query,
        at_rate(settings.data, settings.first_rows, rate, paced_rows, settings.together),
        variant.scheduler,
        -(-len(query.components) // EXECUTORS_PER_HOST),
        variant.strategy,
        pins,
        conf,
    )
