"""Settings of a provider that runs commands."""

from __future__ import annotations

from collections.abc import Iterator  # noqa: TC003 - beside annotations that pydantic reads
from typing import Annotated, Literal

from pydantic import Field, model_validator

from provisioning.providers.placeholders import NAMES, placeholders
from provisioning.providers.provider_section import ProviderSection

_HOST = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
Arguments = Annotated[tuple[str, ...], Field(strict=False)]
Words = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)]


class CommandSettings(ProviderSection):
    """Hosts that commands start and stop. A command is a list of arguments; none goes through a shell."""

    kind: Literal["command"]
    start_command: Annotated[Arguments, Field(min_length=1)]
    """Starts a host; the same `{request}` again starts nothing more. Status 0, unless nothing was started."""
    stop_command: Annotated[Arguments, Field(min_length=1)]
    """Stops a host; status 0 also if it is stopped already."""
    status_command: Arguments = ()
    """Prints `STATE [HOST]` of a lease."""
    list_command: Arguments = ()
    """Prints a line `REQUEST STATE [HOST [INSTANCE]]` per lease; without it, and without `status_command`, a
    host is up the offer's `boot_s` after the request."""
    ready_states: Words = ("ready", "running")
    """States of hosts that are up."""
    lost_states: Words = ("failed", "gone", "stopped", "terminated")
    """States of hosts that failed or are gone; those of all other states boot."""
    unclear_statuses: Annotated[tuple[Annotated[int, Field(ge=1, le=255)], ...], Field(strict=False)] = ()
    """Statuses of `start_command` after which it is unknown whether a host was started: it is run again."""
    hosts: Annotated[tuple[Annotated[str, Field(pattern=_HOST)], ...], Field(strict=False)] = ()
    """Names of all hosts that there can be."""
    host_pattern: str = Field(default="", pattern=r"^$|^[A-Za-z0-9{][A-Za-z0-9._{}-]*$")
    """Fresh names instead, such as `spot-{number}`; without both, commands say names."""
    name_rest_s: float = Field(default=3600.0, ge=0, le=1e7)
    """For so long the name of a returned host is not used again, s: Storm may have banned it."""
    command_limit_s: float = Field(default=60.0, gt=0, le=3600)
    """Each command is killed after that time, with all that it has started, s."""

    @model_validator(mode="after")
    def _consistent(self) -> CommandSettings:
        for fault in self._faults():
            raise ValueError(fault)
        return self

    def _faults(self) -> Iterator[str]:
        named = bool(self.hosts or self.host_pattern)
        for key in ("start_command", "stop_command", "status_command", "list_command"):
            yield from _faults_of(key, getattr(self, key), named=named)
        if self.hosts and self.host_pattern:
            yield "host_pattern: cannot stand beside hosts"
        if self.host_pattern and placeholders([self.host_pattern]) != {"number"}:
            yield f"host_pattern: must hold {{number}} and no other name in braces, got {self.host_pattern!r}"
        if len(set(self.hosts)) < len(self.hosts):
            yield "hosts: a name is there twice"
        if self.status_command and self.list_command:
            yield "list_command: cannot stand beside status_command"
        if not named and not self.status_command and not self.list_command:
            yield "hosts: names of hosts are needed, from hosts, host_pattern, status_command or list_command"


def _faults_of(key: str, arguments: tuple[str, ...], *, named: bool) -> Iterator[str]:
    """Yield what is wrong in a command."""
    if arguments and not arguments[0]:
        yield f"{key}: its first argument, the program, is empty"
    unknown = {
        "start_command": {"instance"} if named else {"instance", "host"},
        "list_command": set(NAMES),
    }.get(key, set())
    known = [each for each in NAMES if each not in unknown]
    for name in sorted(placeholders(arguments) - set(known)):
        names = ", ".join(f"{{{each}}}" for each in known) or "none"
        yield f"{key}: {{{name}}} is not known there; what is: {names}"
