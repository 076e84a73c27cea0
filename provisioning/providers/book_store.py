"""Where a provider keeps its leases: in memory, or in a file that survives every kill."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bridge.faults import phrases
from formats.state_file import write_state
from provisioning.providers.book import Book
from provisioning.providers.entry import Entry  # noqa: TC001 - pydantic reads the annotations
from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

_NAMED_FAULTS = 3


class BookStore(Protocol):
    """Keeps a book."""

    def opened(self) -> AbstractContextManager[Book]:
        """Take the book for changes.

        Raises:
            ProviderError: It cannot be read, or is being changed by another process.
        """


class BookMemory:
    """A book that ends with its process."""

    def __init__(self) -> None:
        self._entries: Sequence[Entry] = ()

    @contextmanager
    def opened(self) -> Iterator[Book]:
        """Take the book."""
        yield Book(self._entries, self._keep)

    def _keep(self, entries: Sequence[Entry]) -> None:
        self._entries = entries


@dataclass(frozen=True)
class _Content:
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    version: Literal[1]
    kind: str
    leases: list[Entry]


_CONTENT = TypeAdapter(_Content)


def still_open(path: Path) -> int:
    """Return how many leases of a file have not ended, of whichever provider they are.

    Raises:
        ProviderError: It cannot be read, or is damaged.
    """
    content = _content(path)
    return 0 if content is None else sum(each.open for each in content.leases)


def _content(path: Path) -> _Content | None:
    """Return what a file holds; None: there is no file."""
    try:
        content = _CONTENT.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ProviderError(f"{path}: cannot be read ({error.strerror})") from None
    except ValidationError as error:
        faults = "; ".join(phrases(error)[:_NAMED_FAULTS])
        raise ProviderError(f"{path}: is no file of leases: {faults}") from None
    numbers = [each.number for each in content.leases]
    if numbers != sorted(set(numbers)) or len({each.request for each in content.leases}) < len(numbers):
        raise ProviderError(f"{path}: is no file of leases: a number or a request is there twice")
    return content


class BookFile:
    """A book in a file: JSON, with a version, replaced in one step.

    Args:
        path: The file; a second one, `<path>.lock`, is locked while the book is open.
        kind: Kind of the provider; leases of another one are refused.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self._path = path
        self._kind = kind

    @contextmanager
    def opened(self) -> Iterator[Book]:
        """Take the book; see `BookStore`."""
        with self._locked():
            yield Book(self._read(), self._write)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._path.with_name(f"{self._path.name}.lock")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ProviderError(f"{lock}: cannot be opened ({error.strerror})") from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ProviderError(
                    f"{self._path}: these leases are being changed by another process"
                ) from None
            yield
        finally:
            os.close(descriptor)  # which unlocks it

    def _read(self) -> Sequence[Entry]:
        content = _content(self._path)
        if content is None:
            return ()
        if content.kind != self._kind:
            raise ProviderError(
                f"{self._path}: holds leases of a provider of kind {content.kind!r}, not {self._kind!r}"
            )
        return content.leases

    def _write(self, entries: Sequence[Entry]) -> None:
        try:
            write_state(self._path, asdict(_Content(1, self._kind, list(entries))))
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # or a loss of power could bring the old file back after a host was started
            finally:
                os.close(folder)
        except OSError as error:
            raise ProviderError(f"{self._path}: cannot be written ({error.strerror})") from None
