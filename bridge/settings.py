"""Settings of the daemon: one TOML file; each key's type, unit, range, default and meaning in one place."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import AliasChoices, Field, model_validator

from bridge.freeze_windows import FreezeWindow, never_open
from bridge.network_settings import NetworkSettings
from bridge.settings_section import Section


class ServerSettings(Section):
    """Where the daemon listens."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on."""
    port: int = Field(default=7090, ge=0, le=65535)
    """TCP port to listen on; 0 takes a free one."""
    max_connections: int = Field(default=16, ge=1, le=1024)
    """Connections at once; one more takes the place of the longest idle one."""
    idle_timeout_s: float = Field(default=60.0, gt=0, le=86_400)
    """Time without a request after which a connection is closed, s."""
    max_rounds: int = Field(default=2, ge=1, le=64)
    """Rounds planned at once; further ones wait until their own deadline."""
    max_frame_bytes: int = Field(default=67_108_864, ge=1024, le=2_147_483_647)
    """Largest request accepted, bytes."""


class CapacitySettings(Section):
    """How much one host carries."""

    executors_per_host: int | None = Field(default=None, ge=1, le=100_000)
    """Executors per host, unless its metadata `stormplace.executors` differs; without it one per core, or as
    many as all executors of the cluster need if they are spread evenly over its cores."""
    resources: Literal["soft", "strict", "off"] = "soft"
    """CPU and memory of components and supervisors: `soft` respects them, and places a topology that fits no
    other way with little overload; `strict` refuses it; `off` ignores both."""
    demand: Literal["measured", "declared"] = "measured"
    """CPU that executors need: `measured` goes by statistics where there are any; with `resources` `strict`
    what is declared counts in any case."""


class ReadingsSettings(Section):
    """When a reading is believed."""

    lifetime_s: float = Field(default=30.0, gt=0, le=86_400)
    """Lifetime of readings that state none, s; older ones are missing."""
    link_lifetime_s: float = Field(default=60.0, gt=0, le=86_400)
    """Age up to which a directly measured delay is believed, s."""
    max_error: float = Field(default=0.6, gt=0, le=10)
    """Coordinates whose relative error estimate is above this are not used."""
    default_availability: float = Field(default=0.99, gt=0, le=1)
    """Availability of hosts without a reading where no host has one."""


class MoveSettings(Section):
    """When running executors move."""

    min_gain: float = Field(default=0.2, ge=0, le=1)
    """Least gain of a restart, as a fraction of the current objective."""
    min_gain_ms: float = Field(default=10.0, ge=0, le=60_000)
    """Least gain in response time, ms, where the response time is all that is weighed."""
    noise_sigmas: float = Field(default=0.0, ge=0, le=100)
    """Standard deviations of its own noise that a gain has to be above, by the errors of measured delays;
    0 does not ask."""
    max_restarts_per_round: int = Field(
        default=32,
        ge=0,
        le=1_000_000,
        validation_alias=AliasChoices("max_restarts_per_round", "max_moves_per_round"),
    )
    """Running executors restarted in one round, over all topologies: those of each worker whose set of
    executors changes. `max_moves_per_round` is an older name of the key."""
    cool_down_s: float = Field(default=120.0, ge=0, le=86_400)
    """Time after a new assignment in which a topology does not move for a gain, s."""
    stabilisation_s: float = Field(default=30.0, ge=0, le=86_400)
    """Time for which a gain must be seen in each round, s; 0 moves in the first one."""
    horizon_s: float = Field(default=3600.0, gt=0, le=1e9)
    """Time within which a move for a gain has to pay its price, s, where it has one and cost is weighed."""
    look_ahead_hours: float = Field(default=0.0, ge=0, le=24)
    """Hours to come by which moves for gains are judged, where something is known of them: by rates that are
    usual at each hour of the week, and by announced drains; 0 looks at the present only."""
    max_restarts_per_hour: int | None = Field(default=None, ge=0, le=1_000_000_000)
    """Running executors restarted in any hour, over all topologies; a larger worker goes alone."""
    max_restarts_per_site_per_hour: int | None = Field(default=None, ge=0, le=1_000_000_000)
    """Running executors restarted in any hour at one site; a larger worker goes alone."""
    max_restarts_per_worker_per_hour: int | None = Field(default=None, ge=0, le=1_000_000)
    """Times that a worker, known by its executors wherever they run, restarts in any hour."""
    fresh_ports: bool = True
    """Whether a worker that starts anew does so on another port than its predecessor, if its supervisor has a
    free one: it need not wait for its predecessor's end, and no other worker connects to that one by mistake,
    which can cost half a minute. Both run for some seconds: false is for bolts that lock something of their
    host, and for hosts without memory for both."""
    freeze: tuple[FreezeWindow, ...] = Field(default=(), strict=False)
    """Hours without moves for gains: `[[move.freeze]]`, `days = ["mon", "fri"]` (without it every day),
    `begin = "08:00"`, `end = "18:00"`, `timezone = "Europe/Rome"` (without it UTC). What is missing is placed
    all the same, and pins and drains are met."""

    @model_validator(mode="after")
    def _some_time_is_free(self) -> MoveSettings:
        if never_open(self.freeze):
            raise ValueError(
                "freeze leaves no minute of the week for moves: set min_gain = 1 for none at all"
            )
        return self

    def frozen_by(self, unix_s: float | None) -> FreezeWindow | None:
        """Return a window in which a time (seconds since 1970) is; None if there is none."""
        if unix_s is None:
            return None
        return next((window for window in self.freeze if window.holds(unix_s)), None)


class PlanSettings(Section):
    """How plans are made."""

    strategy: str = Field(default="auto", min_length=1)
    """Strategy of topologies that name none."""
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """Seed of topologies that name none."""
    time_limit_ms: int = Field(default=800, ge=1, le=600_000)
    """Time for one round, ms; keep it below the shim's deadline."""
    deadline_margin_ms: int = Field(default=200, ge=0, le=60_000)
    """Part of the request's deadline left for the way back, ms."""
    max_executors: int = Field(default=1000, ge=1, le=1_000_000)
    """Topologies with more executors are placed but never moved for a gain."""
    max_hosts: int = Field(default=200, ge=1, le=100_000)
    """Hosts considered for a topology, the roomiest ones; more if it needs them."""
    max_pairs: int = Field(default=20_000, ge=1, le=10**12)
    """Executors of topologies that lack some, times usable hosts, above which counts are planned."""
    max_streams_per_edge: int = Field(default=4096, ge=1, le=100_000_000)
    """Executor pairs per pair of components; above it few stand for all."""
    evict: bool = False
    """Whether topologies of lower priority lose all workers to one that finds no room otherwise."""
    execution_time_ms: float = Field(default=1.0, gt=0, le=60_000)
    """Execution time of an executor per tuple, ms."""
    unit_rate: float = Field(default=1.0, gt=0, le=1e9)
    """Tuples per second of a spout executor while no rates are measured."""
    tuple_bytes: float = Field(default=100.0, gt=0, le=1e9)
    """Size of a tuple, bytes."""


class RecordSettings(Section):
    """Where rounds are recorded. `stormplace replay-rounds DIRECTORY` plans them again and compares."""

    directory: str | None = Field(default=None, min_length=1)
    """Directory of the records; without it nothing is recorded."""
    max_bytes: int = Field(default=16_777_216, ge=4096, le=2**40)
    """Size at which a record file is closed, bytes."""
    files: int = Field(default=8, ge=1, le=10_000)
    """Record files kept; the oldest goes first."""


class MetricsSettings(Section):
    """Where metrics can be scraped, in the Prometheus text format; off unless a port is given."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on."""
    port: int | None = Field(default=None, ge=0, le=65535)
    """TCP port to listen on; 0 takes a free one, without it there are no metrics."""


class LogSettings(Section):
    """What is logged to standard error, one JSON object per line."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least level logged."""


class Settings(Section):
    """All settings of the daemon."""

    server: ServerSettings = ServerSettings()
    capacity: CapacitySettings = CapacitySettings()
    network: NetworkSettings = NetworkSettings()
    readings: ReadingsSettings = ReadingsSettings()
    move: MoveSettings = MoveSettings()
    plan: PlanSettings = PlanSettings()
    record: RecordSettings = RecordSettings()
    metrics: MetricsSettings = MetricsSettings()
    log: LogSettings = LogSettings()

    def to_json(self) -> str:
        """All values as canonical JSON."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))

    def within_limits(self) -> Settings:
        """Return the settings with which nothing is placed above what hosts and workers offer."""
        if self.capacity.resources == "off":
            return self
        return self.model_copy(update={"capacity": self.capacity.model_copy(update={"resources": "strict"})})

    def doubts(self) -> tuple[str, ...]:
        """Say which values contradict each other, one sentence each; the daemon takes them all the same."""
        found = []
        if self.plan.deadline_margin_ms > self.plan.time_limit_ms:
            found.append(
                f"plan.deadline_margin_ms {self.plan.deadline_margin_ms} is above plan.time_limit_ms "
                f"{self.plan.time_limit_ms}: a round leaves more time for its way back than it may plan"
            )
        if self.server.max_rounds > self.server.max_connections:
            found.append(
                f"server.max_rounds {self.server.max_rounds} is above server.max_connections "
                f"{self.server.max_connections}: a connection has one round at a time"
            )
        return tuple(found)

    def digest(self) -> str:
        """Hexadecimal SHA-256 of all values."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()
