"""Hosts that commands start and stop: how any cloud's command line is connected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from provisioning.providers.at_once import each_at_once
from provisioning.providers.host_names import fresh_name, rested_name
from provisioning.providers.machines import NotStartedError, Sighting
from provisioning.providers.placeholders import filled, placeholders
from provisioning.providers.program import ProgramFailedError, run_program
from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from provisioning.providers.book import Book
    from provisioning.providers.entry import Entry
    from provisioning.providers.provider import HostOffer

    ReadList = Callable[[str, Sequence[Entry]], Mapping[str, Sighting]]

_UNKNOWN = ("", "-", "None", "null")


@dataclass(frozen=True)
class Commands:
    """Programs with their arguments, in which names in braces are filled in (`placeholders.NAMES`).

    Attributes:
        start: Starts a host, and prints its own name for it (`{instance}`) as its last word, or nothing. The
            same request again starts nothing more. A status other than 0 says that nothing was started, if it
            is none of `unclear`.
        stop: Stops it, and ends with status 0 also if it is stopped already.
        status: Prints `STATE [HOST]` of a lease; empty: see `listing`.
        listing: Prints `REQUEST STATE [HOST [INSTANCE]]` per lease; empty, and `status` too: a host is up the
            offer's `boot_s` after the request.
        ready: States of hosts that are up.
        lost: States of hosts that failed or are gone; all other ones boot.
        limit_s: Each is killed after that time, s.
        unclear: Statuses of `start` after which it is unknown whether anything was started.
    """

    start: tuple[str, ...]
    stop: tuple[str, ...]
    status: tuple[str, ...] = ()
    listing: tuple[str, ...] = ()
    ready: tuple[str, ...] = ("ready", "running")
    lost: tuple[str, ...] = ("failed", "gone", "stopped", "terminated")
    limit_s: float = 60.0
    unclear: tuple[int, ...] = ()


@dataclass(frozen=True)
class Naming:
    """Where names of hosts come from; without any they come from commands.

    Attributes:
        pattern: Of fresh names, with `{number}` in it; empty: there is none.
        pool: The only names that there are.
        rest_s: For so long the name of a returned host is not used, s.
    """

    pattern: str = ""
    pool: tuple[str, ...] = ()
    rest_s: float = 3600.0


class CommandMachines:
    """`Machines` that commands drive.

    Args:
        offers: What can be started.
        commands: The commands.
        naming: Where names come from.
        added_boot_s: A start is held back for so long, as if the host booted, s.
        read_list: Reads what `commands.listing` prints, where that is something else than lines.
    """

    def __init__(
        self,
        offers: Sequence[HostOffer],
        commands: Commands,
        naming: Naming,
        added_boot_s: float = 0.0,
        read_list: ReadList | None = None,
    ) -> None:
        self._offers = {each.name: each for each in offers}
        self._commands = commands
        self._naming = naming
        self._added_boot_s = added_boot_s
        self._read_list: ReadList = read_list or self._lines

    def offers(self) -> Sequence[HostOffer]:
        """Return what can be started."""
        return tuple(self._offers.values())

    def name(self, book: Book, number: int, now_s: float) -> str:
        """Choose the name of the next host."""
        if self._naming.pool:
            return rested_name(self._naming.pool, book, now_s, self._naming.rest_s)
        return fresh_name(self._naming.pattern, number)

    def delay_s(self, offer: str) -> float:
        """Return how long a start is held back."""
        del offer
        return self._added_boot_s

    def start(self, entry: Entry) -> str:
        """Run the start command; its last word is the instance."""
        try:
            printed = self._run("start", self._commands.start, entry).split()
        except ProgramFailedError as error:
            if error.status in self._commands.unclear:
                raise
            raise NotStartedError(str(error)) from None
        return printed[-1] if printed else ""

    def look(self, entries: Sequence[Entry], now_s: float) -> Mapping[str, Sighting]:
        """Run the list command, or the status command for each host that boots."""
        if self._commands.listing:
            return self._read_list(
                run_program("list", self._commands.listing, self._commands.limit_s), entries
            )
        booting = [each for each in entries if each.step == "booting"]
        look = partial(self._asked if self._commands.status else self._guessed, now_s)
        return dict(zip([each.request for each in booting], each_at_once(look, booting), strict=True))

    def _guessed(self, now_s: float, entry: Entry) -> Sighting:
        up_s = entry.leased_at_s + entry.boot_s
        return Sighting("booting" if now_s < up_s else "ready", ready_at_s=up_s)

    def _asked(self, _now_s: float, entry: Entry) -> Sighting:
        try:
            words = self._run("status", self._commands.status, entry).split()
        except ProviderError as error:
            return Sighting("booting", trouble=str(error))  # it must not hide the others
        return self._sighting(words)

    def _lines(self, printed: str, _entries: Sequence[Entry]) -> Mapping[str, Sighting]:
        lines = [line.split() for line in printed.splitlines() if line.strip()]
        return {request: self._sighting(words) for request, *words in lines}

    def _sighting(self, words: Sequence[str]) -> Sighting:
        state, host, instance = (*words[:3], "", "", "")[:3]
        host, instance = ("" if each in _UNKNOWN else each for each in (host, instance))
        if state in self._commands.lost:
            return Sighting("lost", host, instance, reason=f"it is {state}")
        return Sighting("ready" if state in self._commands.ready else "booting", host, instance)

    def stop(self, entry: Entry) -> None:
        """Run the stop command; where it needs what only a start can tell, the start before it, again."""
        if not entry.instance and "instance" in placeholders(self._commands.stop):
            entry = replace(entry, instance=self.start(entry))
        self._run("stop", self._commands.stop, entry)

    def _run(self, what: str, arguments: Sequence[str], entry: Entry) -> str:
        return run_program(what, filled(arguments, entry), self._commands.limit_s)
