"""The daemon's server: framed binary Thrift over TCP, a thread per connection, a graceful end.

thriftpy2 brings the protocol and the processor. Its own server is not used: it reserves whatever size a frame
claims, shares its port silently with a second server, and cannot stop without cutting calls off.
"""

from __future__ import annotations

import errno
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TMemoryBuffer

from bridge.server.frames import await_frame, read_frame, write_frame
from bridge.server.places import Connection, NoPlaceError, Places, Stage
from bridge.server.repeats import RepeatLog
from bridge.wire.binary_check import check_message
from bridge.wire.contract import idl
from bridge.wire.encoding import DECODE_ERRORS, PROTOCOL_FACTORY

if TYPE_CHECKING:
    from bridge.server.handler import RoundHandler
    from bridge.server.round_call import RoundCall
    from bridge.settings import ServerSettings
    from formats.log import Log

# A client that begins a frame and stops, or does not read its answer, is let go after this.
_PATIENCE_S = 10.0
# A running round ends by its own deadline; this only guards the daemon's end against one that does not.
_DRAIN_S = 30.0
# What the process or the machine has too little of now: descriptors, memory for sockets.
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
# A connection that gives way frees its descriptor and its thread a little later.
_RELIEF_S = 0.1
# A signal that comes just before `accept` begins does not interrupt it: so late it is seen at the latest.
_LOOK_S = 1.0

_processor: Any = TProcessor
_memory: Any = TMemoryBuffer


class ServerError(OSError):
    """The server cannot listen; one sentence with address and port."""


class PlanServer:
    """Serves the placement daemon's contract.

    Args:
        settings: Where to listen, how many connections, how large requests may be.
        handler: Answers calls.
        log: Takes lines on connections that end badly.
    """

    def __init__(self, settings: ServerSettings, handler: RoundHandler, log: Log) -> None:
        self._settings = settings
        self._handler = handler
        self._log = log
        self._repeats = RepeatLog(log)
        self._listener: socket.socket | None = None
        self._places = Places(settings.max_connections)

    def listen(self) -> tuple[str, int]:
        """Begin to listen.

        Returns:
            Address and port; the port is a free one if the settings say 0.

        Raises:
            ServerError: The address is unknown or the port is taken or forbidden.
        """
        host, port = self._settings.host, self._settings.port
        try:
            family, kind, _, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listener = socket.socket(family, kind)
            try:
                # A restart must not wait for old connections to fade; a second daemon must still be refused.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(address)
                listener.listen()
                listener.settimeout(_LOOK_S)
            except OSError:
                listener.close()
                raise
        except OSError as error:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            raise ServerError(f"port {port} of {host} {why}") from error
        self._listener = listener
        bound = listener.getsockname()
        return str(bound[0]), int(bound[1])

    def serve(self) -> None:
        """Accept connections until `stop` is called, then let running calls finish and close everything."""
        if self._listener is None:
            raise RuntimeError("listen first")
        # What `stop` does to the listener ends this, not its flag: between the two, `stop` still needs it.
        while self._accept(self._listener):
            pass
        self._listener.close()
        self._drain()

    def stop(self) -> None:
        """Ask `serve` to end; may be called from any thread and from a signal handler."""
        # Nothing here waits for a lock: a signal may come while another thread is just in here.
        self._places.closed = True
        if self._listener is not None:
            with suppress(OSError):  # it is closed already
                self._listener.shutdown(socket.SHUT_RDWR)  # `accept` ends, even one that begins later

    def _accept(self, listener: socket.socket) -> bool:
        """Serve the next connection; False once `stop` has shut the listener down."""
        try:
            client, peer = listener.accept()
        except TimeoutError:
            return True
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            # The client left early, or file descriptors are short: the next one may do better.
            self._repeats.warning("connection not accepted", reason=str(error))
            if error.errno in _SHORTAGES:
                self._relieve()
            return True
        connection = Connection(client, str(peer[0]))
        connection.thread = threading.Thread(
            target=self._serve_connection, args=(connection,), name=connection.peer, daemon=True
        )
        try:
            # Requests and answers are single messages: nothing is gained by waiting for more to send.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._end(self._places.admit(connection))
            connection.thread.start()
        except (NoPlaceError, OSError) as error:  # the latter: the client has left already
            self._refuse(connection, str(error))
        except RuntimeError as error:  # no thread can be started
            self._refuse(connection, str(error))
            self._relieve()
        return True

    def _refuse(self, connection: Connection, reason: str) -> None:
        self._repeats.warning("connection refused", peer=connection.peer, reason=reason)
        self._places.leave(connection)
        connection.socket.close()

    def _relieve(self) -> None:
        """Free what is short by ending a connection, and wait for that: the loop must not spin meanwhile."""
        self._end(self._places.make_way())
        time.sleep(_RELIEF_S)

    def _end(self, connection: Connection | None) -> None:
        """Let the thread of a connection that gave way find its end."""
        if connection is not None:
            self._repeats.warning("connection gave way to a new one", peer=connection.peer)
            _shut(connection)

    def _serve_connection(self, connection: Connection) -> None:
        client, places = connection.socket, self._places
        try:
            while (first := await_frame(client, self._settings.idle_timeout_s)) is not None:
                call = self._handler.call(time.monotonic())
                if not places.turn_to(connection, Stage.RECEIVING):
                    return
                frame = read_frame(client, first, self._settings.max_frame_bytes, _PATIENCE_S)
                if not places.turn_to(connection, Stage.WORKING):
                    return
                try:
                    write_frame(client, _answer(call, frame), _PATIENCE_S)
                finally:
                    call.finish()
                if not places.turn_to(connection, Stage.IDLE):
                    return
        except DECODE_ERRORS as error:  # a FrameError is a ValueError, one of them
            self._repeats.warning("connection closed", peer=connection.peer, reason=f"no request: {error}")
        except OSError as error:
            if not places.closed and not connection.gave_way:
                self._repeats.warning("connection lost", peer=connection.peer, reason=str(error))
        finally:
            client.close()
            places.leave(connection)

    def _drain(self) -> None:
        """Wait for running calls; no further one begins on any connection."""
        connections = self._places.all()
        for connection in connections:
            if connection.stage is not Stage.WORKING:
                _shut(connection)
        for connection in connections:
            connection.thread.join(_DRAIN_S)
            if connection.thread.is_alive():
                self._log.error("round still running at the end", peer=connection.peer)


def _answer(call: RoundCall, frame: bytes) -> bytes:
    # The whole frame is at hand: a message that claims more than it holds fails instead of waiting.
    check_message(frame)
    received, reply = _memory(frame), _memory()
    _processor(idl.PreviewDaemon, call).process(
        PROTOCOL_FACTORY.get_protocol(received), PROTOCOL_FACTORY.get_protocol(reply)
    )
    return bytes(reply.getvalue())


def _shut(connection: Connection) -> None:
    with suppress(OSError):  # the peer was faster
        connection.socket.shutdown(socket.SHUT_RDWR)  # its thread waits for a request
