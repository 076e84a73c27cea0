"""Records are written after their rounds are answered, by a thread of its own."""

from __future__ import annotations

import queue
import threading
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bridge.record.record import RecordError, RoundRecord, versions
from bridge.wire.encoding import encode_response, encode_struct
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bridge.record.record import RecordWriter
    from bridge.round.memory import Memory
    from bridge.settings import Settings
    from bridge.wire.messages import PlanResponse

# Rounds of a large cluster take tens of megabytes each while they wait.
_MOST_WAITING = 8
_DRAIN_S = 30.0


@dataclass(frozen=True)
class AnsweredRound:
    """What a record is made of: see `RoundRecord`.

    Attributes:
        request: The request's thrift struct, as it came in.
        response: What was answered.
        settings: The daemon's settings in that round.
    """

    request: Any
    response: PlanResponse
    settings: Settings
    time_s: float
    timings_ms: Mapping[str, float]
    timed_out: bool
    now_s: float
    memory: Memory
    measured: tuple[Mapping[str, Any], ...] = ()

    def record(self) -> RoundRecord:
        """Encode the round; takes time in proportion to the size of the request."""
        return RoundRecord(
            request=encode_struct(self.request),
            response=encode_response(self.response),
            settings_json=self.settings.to_json(),
            settings_digest=self.settings.digest(),
            time_s=self.time_s,
            timings_ms={step: round(ms, 3) for step, ms in self.timings_ms.items()},
            timed_out=self.timed_out,
            versions=versions(),
            now_s=self.now_s,
            memory=self.memory,
            measured=self.measured,
        )


class RecordQueue:
    """Takes rounds without waiting and records them in their order.

    Args:
        writer: Writes records.
        on_failure: Called with the id of each round that was not recorded, and the reason; from the thread
            that writes, or the one that puts.
        most: Rounds that may wait.
    """

    def __init__(
        self, writer: RecordWriter, on_failure: Callable[[str, str], None], most: int = _MOST_WAITING
    ) -> None:
        self._writer = writer
        self._on_failure = on_failure
        self._most = most
        self._waiting: queue.Queue[AnsweredRound | None] = queue.Queue(most)
        self._thread = threading.Thread(target=self._work, name="records", daemon=True)
        self._thread.start()

    def put(self, answered: AnsweredRound) -> None:
        """Have a round recorded; one for which there is no room is not."""
        try:
            self._waiting.put_nowait(answered)
        except queue.Full:
            waiting = counted(self._most, "round waits", "rounds wait")
            self._on_failure(answered.response.round_id, f"{waiting} to be recorded already")

    def close(self) -> None:
        """Record what waits, and end; half a minute without an end counts as a failure."""
        try:
            self._waiting.put(None, timeout=_DRAIN_S)
            self._thread.join(_DRAIN_S)
        except queue.Full:
            pass  # its thread is alive, below
        if self._thread.is_alive():
            self._on_failure("", f"rounds that wait to be recorded were given up after {_DRAIN_S:g} s")

    def _work(self) -> None:
        while (answered := self._waiting.get()) is not None:
            try:
                self._writer.append(answered.record())
            except RecordError as error:
                self._on_failure(answered.response.round_id, str(error))
            except Exception:  # noqa: BLE001  # one round that cannot be encoded must not end the records
                self._on_failure(answered.response.round_id, traceback.format_exc().rstrip())
