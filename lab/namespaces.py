"""Network namespaces and the TUN device that connects one to the forwarder."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import subprocess
from pathlib import Path

from lab.errors import LabError

CLONE_NEWNET = 0x4000_0000
DEVICE = "wan0"
# As on the Internet: larger packets would give TCP an initial window that no wide-area path has.
MTU_BYTES = 1500
_TUNSETIFF = 0x4004_54CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000
_QUEUE_PACKETS = 5000
_libc = ctypes.CDLL(None, use_errno=True)


def enter_network(pid: int) -> None:
    """Move the calling thread into the network namespace of a process.

    Raises:
        LabError: The kernel refuses or the process is gone.
    """
    try:
        handle = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise LabError(f"cannot open the network namespace of process {pid}: {error.strerror}") from None
    try:
        if _libc.setns(handle, CLONE_NEWNET) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise LabError(f"cannot enter the network namespace of process {pid}: {reason}")
    finally:
        os.close(handle)


def open_tun(pid: int, address: str) -> int:
    """Give a namespace an address behind a TUN device and return the device's non-blocking descriptor.

    The calling thread stays in the namespace. The device lives as long as the descriptor.

    Raises:
        LabError: The device cannot be made or configured.
    """
    enter_network(pid)
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), _IFF_TUN | _IFF_NO_PI))
    except OSError as error:
        raise LabError(f"cannot make a TUN device through /dev/net/tun: {error.strerror}") from None
    # IPv6 would only send router solicitations into the wide area
    disable = Path(f"/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6")
    if disable.exists():
        disable.write_text("1")
    batch = (
        f"address add {address}/32 dev {DEVICE}\n"
        f"link set {DEVICE} mtu {MTU_BYTES} txqueuelen {_QUEUE_PACKETS} up\n"
        f"route add default dev {DEVICE}\n"
    )
    done = subprocess.run(["ip", "-batch", "-"], input=batch, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"cannot configure the device of {address}: {done.stderr.strip()}")
    return device
