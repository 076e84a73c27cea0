"""Settings of the elastic loop, one TOML file."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, NonNegativeFloat, PositiveFloat, ValidationError, model_validator

from bridge.settings import MetricsSettings
from bridge.settings_section import Section
from provisioning.measuring.kafka_lag import KafkaLagSettings
from provisioning.measuring.redis_lag import RedisLagSettings
from provisioning.providers.settings import (
    OfferSettings,
    ProviderSettings,
    ProviderTable,
    provider_faults,
)
from scheduler.base.checks import LARGEST
from scheduler.elasticity.layers.kinds import POLICIES
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Offer

Mode: TypeAlias = Literal["off", "advise", "active"]
LagSettings: TypeAlias = Annotated[RedisLagSettings | KafkaLagSettings, Field(discriminator="kind")]
_Count: TypeAlias = Annotated[int, Field(ge=1)]


def _several(names: object) -> object:
    return (names,) if isinstance(names, str) else names


class ComponentSettings(Section):
    """A component; what is left out follows from the topology."""

    min: _Count = 1
    """Executors that it never falls below."""
    max: _Count | None = None
    """Executors that it never exceeds; its tasks are a limit, too."""
    slo_ms: PositiveFloat = 1000.0
    """Longest mean time from entering its queue to the end of processing, ms."""
    service_ms: PositiveFloat | None = None
    """For so long an item occupies an executor, ms; without it, it is learned."""
    cpu: PositiveFloat | None = None
    """What an executor needs, percent of one core; without it, what the topology states."""
    memory_mb: PositiveFloat | None = None
    """What an executor needs, MB; likewise."""

    @model_validator(mode="after")
    def _consistent(self) -> ComponentSettings:
        if self.max is not None and self.max < self.min:
            raise ValueError(f"max: must be >= min ({self.min}), got {self.max}")
        return self


class TopologySettings(Section):
    """A topology."""

    mode: Mode = "advise"
    """`advise` says what would be done; `active` does it."""
    pause_s: NonNegativeFloat | None = None
    """For so long its items stand still when executors change, s; without it, it is learned."""
    lag: Annotated[tuple[LagSettings, ...], Field(strict=False)] = ()
    """Where its items wait before spouts take them."""
    component: dict[str, ComponentSettings] = Field(default_factory=dict)
    """Settings of components by name."""

    @model_validator(mode="after")
    def _of_one_spout(self) -> TopologySettings:
        if len({each.spout for each in self.lag}) > 1:
            raise ValueError("lag: all tables must name the same spout")
        return self


class Limits(Section):
    """What the loop never exceeds."""

    reconfigurations_per_hour: _Count = 6
    """Changes of executors of one topology."""
    budget_per_hour: PositiveFloat | None = None
    """Cost of all leased hosts, in the currency of the offers, as if all were of the dearest one."""
    hosts_min: _Count = 1
    """Hosts that are always kept, those that are not leased included."""
    hosts_max: _Count | None = None
    """Hosts that are never exceeded, those that are not leased included."""
    hosts_max_of: dict[str, _Count] = Field(default_factory=dict)
    """Leased hosts of an offer, by its name: of a site, or of a part of a cloud."""


class PolicySettings(Section):
    """How executors and hosts are decided on."""

    kind: Literal["sized", "btu", "threshold", "layers"] = "sized"
    """`sized`: by rate, service time and backlog; `btu` and `threshold` as in paper 003; `layers`: managers
    of components and of hosts as in paper 004."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the policy, as in `stormplace simulate elastic --parameters`; those of `layers` are
    `OnePoolParameters` in `scheduler/elasticity/layers/one_pool/parameters.py`."""


class ElasticSettings(Section):
    """All settings."""

    nimbus: str = "127.0.0.1:6627"
    """HOST:PORT of Nimbus' Thrift service; several separated by commas."""
    zookeeper: str = "127.0.0.1:2181"
    """HOST:PORT of ZooKeeper; several separated by commas."""
    root: str = "/stormplace"
    """Path of Stormplace's readings in ZooKeeper."""
    zookeeper_auth_file: str | None = None
    """File with one line user:password for ZooKeeper."""
    state_directory: str
    """Folder for what the loop remembers; it survives restarts."""
    graphite: str = "0.0.0.0:2003"
    """Where the workers' reporters are listened to, HOST:PORT."""
    interval_s: PositiveFloat = 15.0
    """Time between two rounds, s."""
    window_s: PositiveFloat = 30.0
    """Rates are taken over so long, s."""
    boot_timeout_s: PositiveFloat = 600.0
    """A host that is not up after so long is given up, s."""
    settle_s: NonNegativeFloat = 15.0
    """For so long a host must be without workers before it is given back, s."""
    capacity: Literal["resources", "executors"] = "resources"
    """What fits on a host: by CPU and memory, or by the number of executors (`slots` of an offer)."""
    executors_per_host: _Count = 4
    """Executors on a host that is not leased, where executors are counted."""
    metrics: MetricsSettings = MetricsSettings()
    """Where the loop's metrics can be scraped; off unless a port is given."""
    policy: PolicySettings = PolicySettings()
    limits: Limits = Limits()
    provider: ProviderTable | None = None
    """Where hosts come from; without it topologies are scaled on the hosts that there are."""
    offer: dict[str, OfferSettings] = Field(default_factory=dict)
    """What the provider offers, by name."""
    leased: Annotated[tuple[str, ...], BeforeValidator(_several), Field(strict=False)] = ()
    """Name of the offer that is leased, needed if there are several; or names of some that are alike, the
    preferred one first: where its hosts do not come, or are as many as they may, the next one is leased."""
    topology: Annotated[dict[str, TopologySettings], Field(min_length=1)]
    """Topologies by name; others are left alone."""

    @model_validator(mode="after")
    def _consistent(self) -> ElasticSettings:
        if self.provider is None and self.offer:
            raise ValueError("provider: missing, which [offer] needs")
        _ = self.provider_settings
        self._check_policy()
        return self

    def _check_policy(self) -> None:
        """Refuse parameters with which no topology could be scaled; others depend on its tasks.

        Raises:
            ValueError: One is refused; with its key.
        """
        leased, most = self.leased or tuple(self.offer), self.limits.hosts_max_of
        each_bounded = bool(leased) and all(name in most for name in leased)
        bounded = each_bounded or self.limits.budget_per_hour is not None
        unbounded = self.provider is not None and not bounded
        stated = {
            **self.policy.parameters,
            "hosts_min": self.limits.hosts_min,
            "hosts_max": self.limits.hosts_max if unbounded else self.limits.hosts_min,
        }
        any_offer = Offer(LARGEST, LARGEST, LARGEST)
        any_of_each = tuple(Component(f"{name}/any bolt", 1.0, 1.0, 1.0, 1, 1, 1) for name in self.topology)
        try:
            POLICIES[self.policy.kind].parameters_of(any_of_each, any_offer, stated)
        except ValueError as error:
            of_limits = str(error).startswith("hosts_m")
            raise ValueError(f"{'limits' if of_limits else 'policy.parameters'}.{error}") from None

    @property
    def provider_settings(self) -> ProviderSettings | None:
        """Settings of the provider; None without one.

        Raises:
            ValueError: It has no offers, or some that it cannot have.
        """
        if self.provider is None:
            return None
        try:
            return ProviderSettings(provider=self.provider, offer=self.offer)
        except ValidationError as error:
            raise ValueError("; ".join(provider_faults(error))) from None
