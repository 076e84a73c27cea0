"""What tests of the server do with connections."""

from __future__ import annotations

import socket
import struct

from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.transport import TFramedTransportFactory

from bridge.wire.contract import idl
from bridge.wire.structs import to_thrift


def is_closed(connection):
    """Whether the daemon closed; bytes that it did not read turn the close into a reset."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def frame(content):
    return struct.pack(">i", len(content)) + content


def bytes_of_a_call(request):
    """What a client sends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = client_of(listener.getsockname()[1])
        client._send("plan", request=to_thrift(request))
        connection, _ = listener.accept()
        with connection:
            head = connection.recv(4, socket.MSG_WAITALL)
            body = connection.recv(int.from_bytes(head), socket.MSG_WAITALL)
        client.close()
    return head + body


def client_of(port):
    return make_client(
        idl.PlacementDaemon,
        "127.0.0.1",
        port,
        proto_factory=TBinaryProtocolFactory(),
        trans_factory=TFramedTransportFactory(),
        timeout=60_000,
    )
