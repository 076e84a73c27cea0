"""Base classes of all components: fast serializer, no prints into the protocol, no exit at a bad tuple."""

from __future__ import annotations

import gc
import sys
import traceback
from typing import TYPE_CHECKING, Any

from streamparse import Bolt, Spout

from topologies.serializer import OrjsonSerializer

if TYPE_CHECKING:
    from typing import BinaryIO

_OBJECTS_BETWEEN_COLLECTIONS = 50_000


class _Hardened:
    """Mixed into streamparse's classes, before them.

    A component survives an exception: the tuple fails, Storm's log and error list show it, the state stays.
    (By default the process ends, and with it the worker and all of its other components.)
    """

    exit_on_exception = False
    serializer: Any
    logger: Any

    def __init__(
        self,
        input_stream: BinaryIO | None = None,
        output_stream: BinaryIO | None = None,
        serializer: str = "json",
    ) -> None:
        # keyword arguments are streamparse's; mypy sees `object` behind this mixin
        super().__init__(  # type: ignore[call-arg]
            input_stream=input_stream if input_stream is not None else sys.stdin,
            output_stream=output_stream if output_stream is not None else sys.stdout,
            rdb_signal=None,
            serializer=serializer,
        )
        # pystorm's text wrappers are slow, and would close the streams when collected: take the streams back
        self.serializer = OrjsonSerializer(
            self.serializer.input_stream.detach(), self.serializer.output_stream.detach()
        )
        # many objects come and go that never form cycles: looking for some takes a sixth of the time
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
        if output_stream is None:
            sys.stdout = sys.stderr  # any other text among the protocol's messages would kill the worker

    def raise_exception(self, exception: BaseException, tup: Any = None) -> None:
        """Report an exception to Storm; streamparse's own quotes the whole tuple, maybe 200 kB."""
        where = f" with a tuple of {tup.component}" if tup else ""
        trace = "".join(traceback.format_exception(exception))
        self.serializer.send_message({"command": "error", "msg": f"{exception}{where}\n{trace}"})
        self.serializer.send_message({"command": "sync"})

    def report_error(self, message: str) -> None:
        """Show a fault in the worker's log and in Nimbus' list of the component's errors."""
        self.logger.error(message)
        self.serializer.send_message({"command": "error", "msg": message})


class HardenedBolt(_Hardened, Bolt):  # type: ignore[misc]  # streamparse has no types
    """Base of the bolts. Emits are not anchored: trees of tuples cost, and few topologies need them."""

    auto_anchor = False


class HardenedSpout(_Hardened, Spout):  # type: ignore[misc]  # streamparse has no types
    """Base of the spouts."""
