"""What waits in topics of Kafka."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator

from bridge.settings_section import Section
from formats.address import Address
from provisioning.bounded import bounded
from provisioning.measuring.lag import AtSource, LagError, LagReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kafka import KafkaAdminClient, TopicPartition

_REQUEST_MS = 2000
_BEGIN_MS = 1500
"""For a broker that is asked first; then the next one is."""
_TIMEOUT_S = 6.0
"""For all calls of one question together."""
_OF_SECURITY = ("security_", "sasl_", "ssl_")
_FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")
_Offsets: TypeAlias = "Mapping[TopicPartition, int]"


class KafkaLagSettings(Section):
    """Topics that a spout reads as a consumer group that commits its offsets to Kafka."""

    kind: Literal["kafka"]
    bootstrap: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """HOST:PORT of brokers that are asked first."""
    topics: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """All topics that the spout reads."""
    group: Annotated[str, Field(min_length=1)]
    """The spout's consumer group (`group.id`)."""
    spout: str | None = None
    """The spout that reads them; needed if the topology has several."""
    first_poll: Literal["earliest", "latest"] = "earliest"
    """Where the spout begins with a partition of which its group has committed nothing."""
    security: dict[str, str | int | bool] = Field(default_factory=dict)
    """Arguments `security_...`, `sasl_...` and `ssl_...` of kafka-python's clients."""

    @field_validator("bootstrap")
    @classmethod
    def _are_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(Address.parse(each)) for each in value)

    @field_validator("security")
    @classmethod
    def _are_of_security(cls, value: dict[str, str | int | bool]) -> dict[str, str | int | bool]:
        for key in value:
            if not key.startswith(_OF_SECURITY):
                raise ValueError(f"{key}: must begin with {', '.join(_OF_SECURITY)}")
        for key in _FILES:
            if key in value and not _is_file(str(value[key])):
                raise ValueError(f"{key}: {value[key]} is no file")
        return value

    def reader(self) -> LagReader:
        """Return a reader."""
        return KafkaLag(self)


class KafkaLag:
    """Asks Kafka, each time with a client of its own: nothing of one that hangs is left to the next question.

    Args:
        settings: Where to look.

    Raises:
        ModuleNotFoundError: kafka-python is not installed.
    """

    def __init__(self, settings: KafkaLagSettings) -> None:
        import kafka  # noqa: F401, PLC0415 - who reads no Kafka need not have it

        self._settings = settings
        self._begun: dict[TopicPartition, int] = {}
        self._where = f"Kafka {','.join(settings.bootstrap)}, group {settings.group}"

    def lag(self) -> AtSource:
        """Return how many items wait; see `LagReader`.

        Offsets count as items. They are those of an item's place in its partition, so that what a compaction
        has removed, and marks of transactions, are counted as well.
        """
        from kafka.errors import KafkaError  # noqa: PLC0415 - see above

        try:
            committed, first, end = bounded(self._ask, _TIMEOUT_S)
        except TimeoutError as error:
            raise LagError(f"{self._where}: no answer within {_TIMEOUT_S:.0f} s") from error
        except (KafkaError, OSError, ValueError) as error:
            raise LagError(f"{self._where}: {error}") from error
        waiting = sum(
            # of a partition that was made meanwhile nothing is committed
            end[each] - self._place(each, committed.get(each, -1), (first.get(each, 0), end[each]))
            for each in end
        )
        return AtSource(float(waiting), float(sum(end.values())))

    def _place(self, partition: TopicPartition, committed: int, offsets: tuple[int, int]) -> int:
        """Return the offset from which on items wait.

        A committed offset that the partition does not have any more, or not yet since it was made anew, is
        none, as is -1, which stands for none: consumers then begin as if there were no commit.
        """
        first, end = offsets
        if first <= committed <= end:
            return committed
        if self._settings.first_poll == "earliest":
            return first
        # where the spout began is written nowhere: it is taken for where the partition ended when first seen
        begun = self._begun.setdefault(partition, end)
        return begun if first <= begun <= end else first

    def _ask(self) -> tuple[_Offsets, _Offsets, _Offsets]:
        """Return committed, first and end offsets, in this order: what is committed later is in none."""
        from kafka import OffsetSpec  # noqa: PLC0415 - see above

        group = self._settings.group
        made: list[Any] = []
        try:
            client = self._client(made)
            partitions = self._partitions(client)
            found = client.list_group_offsets({group: partitions})[group]
            committed = {key: each.offset for key, each in found.items()}
            first, end = (
                {
                    key: each.offset
                    for key, each in client.list_partition_offsets(dict.fromkeys(partitions, spec)).items()
                }
                for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
            )
        finally:
            # a client that finds no broker raises before it can be closed, and would leave its thread behind
            for each in made:
                each.close()
        return committed, first, end

    def _client(self, made: list[Any]) -> KafkaAdminClient:
        """Return a client of the first broker that answers.

        Args:
            made: Takes what is to be closed, also of those that do not answer.
        """
        from kafka.errors import KafkaTimeoutError  # noqa: PLC0415 - see above
        from kafka.net.compat import KafkaNetClient  # noqa: PLC0415 - see above

        def network(**arguments: Any) -> Any:
            made.append(KafkaNetClient(**arguments))
            return made[-1]

        logger, noted = logging.getLogger("kafka"), _Noted()
        logger.addHandler(noted)
        try:
            return self._first(network)
        except KafkaTimeoutError as error:
            why = "; ".join((str(error), *noted.errors))
            raise LagError(f"{self._where}: {why}") from error
        finally:
            logger.removeHandler(noted)

    def _first(self, network: Callable[..., Any]) -> KafkaAdminClient:
        from kafka import KafkaAdminClient  # noqa: PLC0415 - see above
        from kafka.errors import KafkaTimeoutError  # noqa: PLC0415 - see above

        silent = KafkaTimeoutError("no broker is named")
        for address in self._settings.bootstrap:
            try:
                return KafkaAdminClient(
                    bootstrap_servers=address,
                    request_timeout_ms=_REQUEST_MS,
                    bootstrap_timeout_ms=_BEGIN_MS,
                    kafka_client=network,
                    **self._settings.security,
                )
            except KafkaTimeoutError as error:
                silent = error
        raise silent

    def _partitions(self, client: KafkaAdminClient) -> list[TopicPartition]:
        """Return all partitions of the topics.

        Raises:
            LagError: A topic is missing, or says nothing of its partitions.
        """
        from kafka import TopicPartition  # noqa: PLC0415 - see above
        from kafka.errors import for_code  # noqa: PLC0415 - see above

        partitions = []
        for topic in client.describe_topics(list(self._settings.topics)):
            if topic["error_code"]:
                what = for_code(topic["error_code"]).description
                raise LagError(f"{self._where}, topic {topic['name']}: {what}")
            partitions += [
                TopicPartition(topic["name"], each["partition_index"]) for each in topic["partitions"]
            ]
        return partitions


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        return False  # it may not be looked at


class _Noted(logging.Handler):
    """Keeps the errors that kafka-python logs: what it raises in the end does not say why.

    Those of a client that was left behind come in between; the sentence names the brokers that were asked.

    Attributes:
        errors: What failed, each once.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it, unless time ran out: the error that is raised says that."""
        from kafka.errors import KafkaTimeoutError, RequestTimedOutError  # noqa: PLC0415 - see above

        for each in record.args if isinstance(record.args, tuple) else ():
            if not isinstance(each, Exception) or isinstance(each, (KafkaTimeoutError, RequestTimedOutError)):
                continue
            if str(each) not in ("", *self.errors):
                self.errors.append(str(each))
