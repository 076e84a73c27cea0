"""One call of the service, from its first byte to what follows the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bridge.wire.contract import idl
from bridge.wire.structs import to_thrift

if TYPE_CHECKING:
    from bridge.record.record_queue import AnsweredRound
    from bridge.server.handler import RoundHandler


class RoundCall:
    """One call of the service: the processor has it plan, and the server says when the answer is sent.

    Args:
        handler: Plans and records.
        began_s: When the call's first byte came, monotonic s.
    """

    def __init__(self, handler: RoundHandler, began_s: float) -> None:
        self._handler = handler
        self._began_s = began_s
        self._answered: AnsweredRound | None = None

    def plan(self, raw: Any) -> Any:
        """Plan one round; thrift struct in, thrift struct out.

        Raises:
            Refused: The thrift exception, see `RoundHandler.answer`.
        """
        self._answered = self._handler.answer(raw, self._began_s)
        return to_thrift(self._answered.response)

    def preview(self, raw: Any) -> Any:
        """Look at what a plan would do; thrift struct in, thrift struct out.

        Raises:
            Refused: The thrift exception, see `Previews.answer`.
        """
        return idl.Preview(answer_json=self._handler.previews.answer(raw))

    def finish(self) -> None:
        """Record the round and go on with what it left over: its answer has gone out, or cannot."""
        if self._answered is not None:
            self._handler.record(self._answered)
            self._handler.go_on(self._answered.request.cluster)
