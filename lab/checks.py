"""Checks what must be there before a lab can start."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
from pathlib import Path

from lab.commands import Programs
from lab.errors import LabError
from lab.places import SHIM_JAR, STORM_HOME
from lab.storm_config import NEEDS_SHIM, SchedulerName

SEARCH_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
NEEDED_DISK_BYTES = 1 << 30
_OLDEST_JAVA = 17
_PROGRAMS = (
    "java",
    "redis-server",
    "hostname",
    "ip",
    "mount",
    "unshare",
    "nsenter",
    "setpriv",
    "sh",
    "sleep",
)
_TUN = Path("/dev/net/tun")


def namespace_options() -> tuple[str, ...]:
    """Return unshare's options for a lab's process tree; without root it needs a user namespace as well."""
    own = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    return own if os.geteuid() == 0 else ("--user", "--map-root-user", *own)


def check_programs() -> Programs:
    """Find the programs that a lab is made of.

    Raises:
        LabError: Programs are missing, Java is too old or Storm has not been assembled.
    """
    found = {name: shutil.which(name, path=SEARCH_PATH) for name in _PROGRAMS}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise LabError(
            f"programs missing on PATH: {', '.join(missing)} (lab/system-packages.sh installs them)"
        )
    java = str(found["java"])
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(f"{java} does not run: {error}") from None
    version = re.search(r'version "(\d+)', answer)
    if version is None or int(version[1]) < _OLDEST_JAVA:
        first = (answer.strip() or "no version named").splitlines()[0]
        raise LabError(f"Storm needs Java {_OLDEST_JAVA} or newer; {java} is: {first}")
    if not (STORM_HOME / "RELEASE").exists():
        raise LabError(
            f"no Storm at {STORM_HOME}; `mvn -q -f lab/storm/pom.xml package` in the project's root makes it"
        )
    return Programs(java, str(found["redis-server"]), STORM_HOME)


def check_shim(scheduler: SchedulerName) -> None:
    """Check that the shim's jar is there if the scheduler needs it.

    Raises:
        LabError: It is not.
    """
    if scheduler in NEEDS_SHIM and not SHIM_JAR.exists():
        raise LabError(
            f"scheduler {scheduler} needs {SHIM_JAR}; `mvn -q package` in the project's root makes it"
        )


def install_shim() -> None:
    """Put the shim's jar, if there is one, where daemons and workers find it.

    It is replaced, never written over: a running JVM may still have the old file open.
    """
    if not SHIM_JAR.exists():
        return
    for folder in ("extlib", "extlib-daemon"):
        target = STORM_HOME / folder / SHIM_JAR.name
        if target.exists() and filecmp.cmp(SHIM_JAR, target, shallow=False):
            continue
        partial = target.with_suffix(f".partial-{os.getpid()}")
        shutil.copyfile(SHIM_JAR, partial)
        partial.replace(target)


def check_machine(folder: Path) -> None:
    """Check that namespaces and TUN devices can be made and that the disk has room.

    Raises:
        LabError: Something is not permitted or missing.
    """
    if not os.access(_TUN, os.R_OK | os.W_OK):
        raise LabError(
            f"{_TUN} cannot be opened: the emulated network needs TUN devices (`modprobe tun`, root)"
        )
    probe = ["unshare", *namespace_options(), "--net", "--uts", "true"]
    done = subprocess.run(
        probe, capture_output=True, text=True, check=False, env={**os.environ, "PATH": SEARCH_PATH}
    )
    if done.returncode != 0:
        raise LabError(
            "the lab needs root, or a kernel that permits user namespaces to ordinary users"
            f" ({done.stderr.strip()})"
        )
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < NEEDED_DISK_BYTES:
        raise LabError(f"{there} has {free >> 20} MiB left; a lab needs {NEEDED_DISK_BYTES >> 20} MiB")
