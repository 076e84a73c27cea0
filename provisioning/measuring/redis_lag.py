"""What waits in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, field_validator, model_validator

from bridge.settings_section import Section
from formats.address import Address
from provisioning.measuring.lag import AtSource, LagError, LagReader

if TYPE_CHECKING:
    from redis import Redis

_TIMEOUT_S = 2.0
_Name = Annotated[str, Field(min_length=1)]
Counter: TypeAlias = _Name | Annotated[tuple[_Name, _Name], Field(strict=False)]
"""A number in Redis: its key, or the key of a hash and its field there."""


class RedisLagSettings(Section):
    """A Redis list or stream that a spout reads, or counts of what has come and what is done."""

    kind: Literal["redis"]
    address: str
    """HOST:PORT of Redis."""
    key: _Name | None = None
    """A list (all that is in it waits), or a stream."""
    spout: str | None = None
    """The spout that reads it; needed if the topology has several."""
    group: str | None = None
    """Consumer group of a stream; what it has not read yet waits."""
    counter: Counter | None = None
    """A number that counts all items that ever came, if their writer keeps one; Redis counts those of a
    stream. Without it, items that are emitted again after a restart look like new ones."""
    done: Counter | None = None
    """In place of `key`: a number that counts all items that were worked off. What `counter` is above it
    waits."""

    @field_validator("address")
    @classmethod
    def _is_one(cls, value: str) -> str:
        return str(Address.parse(value))

    @model_validator(mode="after")
    def _says_what_waits(self) -> Self:
        if (self.key is None) == (self.done is None):
            raise ValueError("needs either key, or done and counter")
        if self.done is not None and (self.counter is None or self.group is not None):
            raise ValueError("done needs counter, and has no group")
        return self

    def reader(self) -> LagReader:
        """Return a reader."""
        return RedisLag(self)


class RedisLag:
    """Asks Redis.

    Args:
        settings: Where to look.

    Raises:
        ModuleNotFoundError: redis is not installed.
    """

    def __init__(self, settings: RedisLagSettings) -> None:
        import redis  # noqa: F401, PLC0415 - who reads no Redis need not have it

        self._settings = settings
        self._address = Address.parse(settings.address)
        self._client: Redis | None = None

    def lag(self) -> AtSource:
        """Return how many items wait; see `LagReader`."""
        import redis  # noqa: PLC0415 - see above
        from redis.backoff import NoBackoff  # noqa: PLC0415 - see above
        from redis.retry import Retry  # noqa: PLC0415 - see above

        settings = self._settings
        where = f"Redis {settings.address}" + ("" if settings.key is None else f", key {settings.key}")
        if self._client is None:
            self._client = redis.Redis(
                self._address.host,
                self._address.port,
                socket_timeout=_TIMEOUT_S,
                socket_connect_timeout=_TIMEOUT_S,
                decode_responses=True,
                # a kept connection may have been closed; who waits longer is late for the next round
                retry=Retry(NoBackoff(), 1),
            )
        try:
            if settings.key is None:
                arrived, done = self._counted(settings.counter, where), self._counted(settings.done, where)
                return AtSource(max(0.0, (arrived or 0.0) - (done or 0.0)), arrived)
            if settings.group is None:
                kind = self._client.type(settings.key)
                length = self._client.xlen if kind == "stream" else self._client.llen
                return AtSource(float(length(settings.key)), self._counted(settings.counter, where))
            for each in self._client.xinfo_groups(settings.key):
                if each["name"] == settings.group:
                    if each.get("lag") is None:
                        raise LagError(
                            f"{where}: Redis does not know how far group {settings.group} is behind"
                        )
                    added = self._client.xinfo_stream(settings.key).get("entries-added")
                    return AtSource(float(each["lag"]), None if added is None else float(added))
        except (redis.RedisError, UnicodeDecodeError) as error:
            raise LagError(f"{where}: {error}") from error
        raise LagError(f"{where}: there is no group {settings.group}")

    def _counted(self, counter: Counter | None, where: str) -> float | None:
        """Return what a counter says; None if there is none."""
        if counter is None or self._client is None:
            return None
        if isinstance(counter, str):
            value, name = self._client.get(counter), counter
        else:
            value, name = self._client.hget(*counter), " ".join(counter)
        try:
            # before the first item there is none
            return 0.0 if value is None else float(str(value))
        except ValueError as error:
            raise LagError(f"{where}: counter {name} is no number") from error
