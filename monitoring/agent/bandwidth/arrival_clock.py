"""When the datagram arrived that was read last."""

from __future__ import annotations

import fcntl
import struct
import time

_SIOCGSTAMPNS = 0x8907
"""Linux: the kernel's receive timestamp of the last packet that was passed to the user (socket(7))."""

_TIMESPEC = struct.Struct("@qq")
_NS_PER_S = 1_000_000_000


class ArrivalClock:
    """Takes the kernel's time where there is one: a process that was late reads packets at its own pace.

    Times are in ns, of one clock for the life of the object; only differences mean something.

    Args:
        descriptor: The socket's, None for the process's own time.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        try:
            self._of_kernel()  # from now on the kernel takes times
        except FileNotFoundError:  # nothing has arrived yet
            pass
        except OSError:
            self._descriptor = None

    def read_ns(self) -> int:
        """Return when the last datagram arrived that was read."""
        return time.monotonic_ns() if self._descriptor is None else self._of_kernel()

    def _of_kernel(self) -> int:
        if self._descriptor is None:
            return 0
        stamp = fcntl.ioctl(self._descriptor, _SIOCGSTAMPNS, bytes(_TIMESPEC.size))
        seconds, nanoseconds = _TIMESPEC.unpack(stamp)
        return int(seconds * _NS_PER_S + nanoseconds)
