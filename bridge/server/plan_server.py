"""The daemon's server: framed binary Thrift over TCP, a thread per connection, a graceful end.

thriftpy2 brings the protocol and the processor. Its own server is not used: it reserves whatever size a frame
claims, shares its port silently with a second server, and cannot stop without cutting calls off.
"""

from __future__ import annotations

import errno
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TMemoryBuffer

from bridge.server.frames import read_frame, write_frame
from bridge.wire.binary_check import check_message
from bridge.wire.contract import idl
from bridge.wire.encoding import DECODE_ERRORS, PROTOCOL_FACTORY

if TYPE_CHECKING:
    from bridge.server.handler import RoundHandler
    from bridge.settings import ServerSettings
    from formats.log import Log

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

    def __init__(self, settings: ServerSettings, handler: RoundHandler, log: Log) -> None:
        self._settings = settings
        self._processor = _processor(idl.PlacementDaemon, handler)
        self._log = log
        self._listener: socket.socket | None = None
        self._stopping = False
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._busy: set[socket.socket] = set()

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
        self._stopping = True
        if self._listener is not None:
            with suppress(OSError):  # it is closed already
                self._listener.shutdown(socket.SHUT_RDWR)  # `accept` ends, even one that begins later

    def _accept(self, listener: socket.socket) -> bool:
        """Serve the next connection; False once `stop` has shut the listener down."""
        try:
            client, peer = listener.accept()
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            # The client left early, or file descriptors are short: the next one may do better.
            self._log.warning("connection not accepted", reason=str(error))
            return True
        with self._lock:
            if len(self._connections) >= self._settings.max_connections:
                self._log.warning("connection refused", peer=str(peer[0]), reason="too many connections")
                client.close()
                return True
            # Requests and answers are single messages: nothing is gained by waiting for more to send.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(
                target=self._serve_connection, args=(client, str(peer[0])), name=str(peer[0]), daemon=True
            )
            self._connections[client] = thread
        thread.start()
        return True

    def _serve_connection(self, client: socket.socket, peer: str) -> None:
        try:
            while (frame := read_frame(client, self._settings.max_frame_bytes, _PATIENCE_S)) is not None:
                if not self._mark(client, busy=True):
                    return
                write_frame(client, self._answer(frame))
                if not self._mark(client, busy=False):
                    return
        except DECODE_ERRORS as error:  # a FrameError is a ValueError, one of them
            self._log.warning("connection closed", peer=peer, reason=f"no request: {error}")
        except OSError as error:
            if not self._stopping:
                self._log.info("connection lost", peer=peer, reason=str(error))
        finally:
            client.close()
            with self._lock:
                self._busy.discard(client)
                self._connections.pop(client, None)

    def _mark(self, client: socket.socket, *, busy: bool) -> bool:
        """Mark a connection busy or idle; False if the server ends and no call may begin on it."""
        with self._lock:
            (self._busy.add if busy else self._busy.discard)(client)
            return not self._stopping

    def _answer(self, frame: bytes) -> bytes:
        # The whole frame is at hand: a message that claims more than it holds fails instead of waiting.
        check_message(frame)
        received, reply = _memory(frame), _memory()
        self._processor.process(PROTOCOL_FACTORY.get_protocol(received), PROTOCOL_FACTORY.get_protocol(reply))
        return bytes(reply.getvalue())

    def _drain(self) -> None:
        """Wait for running calls; no further one begins on any connection."""
        with self._lock:
            threads = dict(self._connections)
            for client in threads.keys() - self._busy:
                with suppress(OSError):  # the peer was faster
                    client.shutdown(socket.SHUT_RDWR)  # its thread waits for a request
        for thread in threads.values():
            thread.join(_DRAIN_S)
            if thread.is_alive():
                self._log.error("round still running at the end", peer=thread.name)
