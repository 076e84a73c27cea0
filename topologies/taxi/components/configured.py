"""What most components have to know of the topology's configuration."""

from __future__ import annotations

from typing import Any

from formats.semantics import Semantics
from topologies.taxi.settings import shares_of


class Configured:
    """Mixed into the base classes of bolts, before them: `semantics`, the queries' choices, and `shares`."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read the configuration; subclasses call it first."""
        super().initialize(storm_conf, context)  # type: ignore[misc]  # mypy sees `object` behind this mixin
        self.semantics = Semantics.from_conf(storm_conf)
        self.shares = shares_of(storm_conf)
