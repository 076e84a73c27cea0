"""What waits in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator

from bridge.settings_section import Section
from formats.address import Address
from provisioning.measuring.lag import AtSource, LagError, LagReader

if TYPE_CHECKING:
    from redis import Redis

_TIMEOUT_S = 2.0


class RedisLagSettings(Section):
    """A Redis list or stream that a spout reads."""

    kind: Literal["redis"]
    address: str
    """HOST:PORT of Redis."""
    key: Annotated[str, Field(min_length=1)]
    """A list (all that is in it waits), or a stream."""
    spout: str | None = None
    """The spout that reads it; needed if the topology has several."""
    group: str | None = None
    """Consumer group of a stream; what it has not read yet waits."""
    counter: str | None = None
    """Key of a number that counts all items that ever came to a list, if its writer keeps one; Redis counts
    those of a stream. Without it, items that are emitted again after a restart look like new ones."""

    @field_validator("address")
    @classmethod
    def _is_one(cls, value: str) -> str:
        return str(Address.parse(value))

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
        where = f"Redis {settings.address}, key {settings.key}"
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
            if settings.group is None:
                kind = self._client.type(settings.key)
                length = self._client.xlen if kind == "stream" else self._client.llen
                return AtSource(float(length(settings.key)), self._counted(where))
            for each in self._client.xinfo_groups(settings.key):
                if each["name"] == settings.group:
                    if each.get("lag") is None:
                        raise LagError(
                            f"{where}: Redis does not know how far group {settings.group} is behind"
                        )
                    added = self._client.xinfo_stream(settings.key).get("entries-added")
                    return AtSource(float(each["lag"]), None if added is None else float(added))
        except redis.RedisError as error:
            raise LagError(f"{where}: {error}") from error
        raise LagError(f"{where}: there is no group {settings.group}")

    def _counted(self, where: str) -> float | None:
        """Return how many items have ever come to a list; None if that is not counted."""
        counter = self._settings.counter
        if counter is None or self._client is None:
            return None
        value = self._client.get(counter)
        try:
            # before the first item there is none
            return 0.0 if value is None else float(str(value))
        except ValueError as error:
            raise LagError(f"{where}: counter {counter} is no number") from error
