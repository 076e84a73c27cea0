"""How the lab starts JVMs: they are short-lived, and there are many of them on few cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lab.places import STORM_HOME

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN = (
    # no second compiler, one collector thread, no shared counters in /tmp
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    # nothing in a lab is encrypted: to read the certificates of the system takes a tenth of a second
    "-Djavax.net.ssl.trustStore=NONE",
)


def jvm_flags(libraries: Literal["lib", "lib-worker"]) -> Sequence[str]:
    """Return the flags of a JVM of the lab.

    Args:
        libraries: Folder of Storm with which its class path begins: what was archived for it
            (`lab/storm/class-archives.sh`) is used; a JVM that cannot use it parses the classes itself.
    """
    archive = STORM_HOME / f"{libraries}.jsa"
    return (*_PLAIN, f"-XX:SharedArchiveFile={archive}") if archive.exists() else _PLAIN
