"""The daemon's server: framed binary Thrift over TCP, a thread per connection, a graceful end.

thriftpy2 brings the protocol and the processor. Its own server is not used: it reserves whatever size a frame
claims, shares its port silently with a second server, and cannot stop without cutting calls off.
"""

from __future__ import annotations

import errno
import selectors
import socket
import threading
from typing import TYPE_CHECKING, Any

from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TMemoryBuffer

from bridge.server.frames import read_frame, write_frame
from bridge.wire.binary_check import check_message
from bridge.wire.contract import idl
from bridge.wire.encoding import DECODE_ERRORS, PROTOCOL_FACTORY

if TYPE_CHECKING:
    import structlog

    from bridge.server.handler import RoundHandler
    from bridge.settings import ServerSettings

# A client that begins a frame and stops, or does not read its answer, is let go after this.
_PATIENCE_S = 10.0
# A running round ends by its own deadline; this only guards the daemon's end against one that does not.
_DRAIN_S = 30.0

_processor: Any = TProcessor
_memory: Any = TMemoryBuffer


class ServerError(OSError):
    """The server cannot listen; one sentence with address and port."""


class PlanServer:
    """Serves the placement daemon's contract.

    Args:
        settings: Where to listen, how many connections, how large requests may be.
        handler: Answers calls.
        log: Takes a line per connection that ends badly.
    """

    def __init__(
        self, settings: ServerSettings, handler: RoundHandler, log: structlog.typing.FilteringBoundLogger
    ) -> None:
        self._settings = settings
        self._processor = _processor(idl.PlacementDaemon, handler)
        self._log = log
        self._stopping = threading.Event()
        self._stopped_once = threading.Lock()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._listener: socket.socket | None = None
        self._lock = threading.Lock()
        self._connections: dict[_Connection, threading.Thread] = {}

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
                listener.setblocking(False)
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
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wake_reader, selectors.EVENT_READ)
            # The byte of `stop` ends this, not its flag: between the two, `stop` still needs its socket.
            woken = False
            while not woken:
                for key, _ in selector.select():
                    if key.fileobj is self._wake_reader:
                        woken = True
                    else:
                        self._accept(self._listener)
        self._listener.close()
        self._drain()
        self._wake_reader.close()
        self._wake_writer.close()

    def stop(self) -> None:
        """Ask `serve` to end; may be called from any thread and from a signal handler."""
        # A lock that is never waited for: a signal may come while another thread is just in here.
        if not self._stopped_once.acquire(blocking=False):
            return
        self._stopping.set()
        self._wake_writer.send(b"\0")

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, peer = listener.accept()
        except OSError as error:
            # The client left early, or file descriptors are short: the next one may do better.
            self._log.warning("connection not accepted", reason=str(error))
            return
        with self._lock:
            if len(self._connections) >= self._settings.max_connections:
                self._log.warning("connection refused", peer=str(peer[0]), reason="too many connections")
                client.close()
                return
            connection = _Connection(client, str(peer[0]))
            thread = threading.Thread(target=self._serve_connection, args=(connection,), daemon=True)
            self._connections[connection] = thread
        thread.start()

    def _serve_connection(self, connection: _Connection) -> None:
        try:
            while True:
                frame = read_frame(connection.socket, self._settings.max_frame_bytes, _PATIENCE_S)
                if frame is None:
                    return
                if not connection.begin_call(self._stopping):
                    return
                write_frame(connection.socket, self._answer(frame))
                if not connection.end_call(self._stopping):
                    return
        except DECODE_ERRORS as error:  # a FrameError is a ValueError, one of them
            self._log.warning("connection closed", peer=connection.peer, reason=f"no request: {error}")
        except OSError as error:
            if not self._stopping.is_set():
                self._log.info("connection lost", peer=connection.peer, reason=str(error))
        finally:
            connection.socket.close()
            with self._lock:
                self._connections.pop(connection, None)

    def _answer(self, frame: bytes) -> bytes:
        # The whole frame is at hand: a message that claims more than it holds fails instead of waiting.
        check_message(frame)
        received, reply = _memory(frame), _memory()
        self._processor.process(PROTOCOL_FACTORY.get_protocol(received), PROTOCOL_FACTORY.get_protocol(reply))
        return bytes(reply.getvalue())

    def _drain(self) -> None:
        with self._lock:
            open_connections = list(self._connections.items())
        for connection, _ in open_connections:
            connection.close_if_idle()
        for connection, thread in open_connections:
            thread.join(_DRAIN_S)
            if thread.is_alive():
                self._log.error("round still running at the end", peer=connection.peer)


class _Connection:
    """A connection that knows whether a call is under way on it."""

    def __init__(self, connected: socket.socket, peer: str) -> None:
        self.socket = connected
        self.peer = peer
        self._lock = threading.Lock()
        self._busy = False
        # Requests and answers are single messages: nothing is gained by waiting for more to send.
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def begin_call(self, stopping: threading.Event) -> bool:
        """Mark the connection busy; False if the server ends and no call may begin."""
        with self._lock:
            self._busy = not stopping.is_set()
            return self._busy

    def end_call(self, stopping: threading.Event) -> bool:
        """Mark the connection idle; False if the server ends and the connection is to be closed."""
        with self._lock:
            self._busy = False
            return not stopping.is_set()

    def close_if_idle(self) -> None:
        """Wake the connection's thread from waiting for a request."""
        with self._lock:
            if not self._busy:
                try:
                    self.socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    # The peer, or the connection's own thread, was faster.
                    return
