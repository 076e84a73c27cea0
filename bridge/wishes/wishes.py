"""What topologies ask for: their settings for this scheduler, and what Storm's own keys say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bridge.wishes.setting_values import COSTS
from bridge.wishes.storm_settings import parse_storm_settings
from bridge.wishes.topology_settings import parse_topology_settings
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bridge.settings import PlanSettings
    from bridge.wire.messages import Topology
    from bridge.wishes.storm_settings import StormSettings
    from bridge.wishes.topology_settings import TopologySettings

HELD = {"INACTIVE": "deactivated", "KILLED": "being killed", "REBALANCING": "being rebalanced"}
"""What Storm is about to end or to place anew, or what does no work, by status."""


@dataclass(frozen=True)
class Wishes:
    """How a topology wants to be placed.

    Attributes:
        own: Its settings for this scheduler.
        storm: What Storm's keys say about it.
        leaving: Hosts that are announced to be drained soon, which are used like unfavored ones.
        announced_s: Time until hosts are to be drained, soon or not, by name, s.
    """

    own: TopologySettings
    storm: StormSettings
    leaving: frozenset[str] = frozenset()
    announced_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        """One phrase per bad value; each such key has its default."""
        return (*self.own.faults, *self.storm.faults)

    def avoiding(self, hosts: Collection[str], announced_s: Mapping[str, float]) -> Wishes:
        """Return the same where some hosts are to be used only if the others do not suffice.

        Args:
            hosts: Those that are to be drained soon.
            announced_s: Time until hosts are to be drained, by name, s.
        """
        storm = self.storm.model_copy(
            update={
                "favored": tuple(each for each in self.storm.favored if each not in hosts),
                "unfavored": (*self.storm.unfavored, *sorted(hosts)),
            }
        )
        return replace(self, storm=storm, leaving=frozenset(hosts), announced_s=announced_s)


def wishes_of(topology: Topology, settings: PlanSettings) -> Wishes:
    """Read the settings that a topology brings along.

    Args:
        topology: The topology.
        settings: The daemon's settings of plans, which say what holds where the topology is silent.
    """
    own = parse_topology_settings(
        topology.settings_json,
        frozenset(topology.component_names),
        frozenset(STRATEGIES),
        settings.strategy,
        settings.seed,
    )
    if "weights" not in own.model_fields_set and STRATEGIES[own.strategy].needs:
        # what strategies for links and tiers are for, weighed as paper 002 does
        own = own.model_copy(update={"weights": dict.fromkeys(COSTS, 1.0 / len(COSTS))})
    return Wishes(own, parse_storm_settings(topology.storm_json, topology.component_names))


def by_rank(topologies: Sequence[Topology], wishes: Sequence[Wishes]) -> list[int]:
    """Return positions of topologies by priority, then by time of submission, then by id.

    Args:
        topologies: The topologies.
        wishes: What each asks for.
    """
    return sorted(
        range(len(topologies)),
        key=lambda each: (wishes[each].storm.priority, topologies[each].launched_s or 0, topologies[each].id),
    )
