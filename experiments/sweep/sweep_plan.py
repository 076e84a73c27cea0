"""What a sweep runs: instances, strategies, seeds, and how long each run may take."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Instance:
    """One instance, with its content as it was read.

    Attributes:
        name: Name in the results, such as the file's without its ending.
        text: The instance document as JSON.
    """

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the content, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Run:
    """One run of the decision core.

    Attributes:
        instance: Name of the instance.
        digest: SHA-256 of its content.
        strategy: A name of `scheduler.registry.STRATEGIES`.
        seed: Seed of the strategy's random choices (>= 0).
    """

    instance: str
    digest: str
    strategy: str
    seed: int

    @property
    def part(self) -> str:
        """Name of the file that holds its result: another one for another name or content of the instance."""
        key = hashlib.sha256(f"{self.digest} {self.instance}".encode()).hexdigest()
        return f"{key[:20]}-{self.strategy}-{self.seed}.parquet"


@dataclass(frozen=True)
class SweepPlan:
    """All runs of a sweep.

    Attributes:
        instances: With names of their own.
        strategies: Names of the registry.
        seeds: Seeds, >= 0.
        time_limit_s: Seconds that each run may take; None: each ends by itself.
        until_deadline: As of `experiments.sweep.one_run.solve`.
    """

    instances: tuple[Instance, ...]
    strategies: tuple[str, ...]
    seeds: tuple[int, ...]
    time_limit_s: float | None
    until_deadline: bool = True

    def __post_init__(self) -> None:
        names = [instance.name for instance in self.instances]
        for name in names:
            if names.count(name) > 1:
                raise DataError(
                    f"two instances have the name {name}: no name would say whose results are whose"
                )

    def runs(self) -> list[Run]:
        """Return all runs, seed by seed, so that what is there after an interruption covers all instances."""
        return [
            Run(instance.name, instance.digest, strategy, seed)
            for seed, instance, strategy in product(self.seeds, self.instances, self.strategies)
        ]


def read_seeds(text: str) -> tuple[int, ...]:
    """Read seeds such as `0-4` or `0,3,7-9`.

    Returns:
        The seeds, ascending, each once.

    Raises:
        ValueError: It is no such list; the message says what is expected.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (each.strip() for each in part.partition("-"))
        if not _is_seed(first) or (dash and not _is_seed(last)):
            raise ValueError(f"{part.strip()!r} is no seed and no range of seeds such as 0-4")
        span = range(int(first), int(last or first) + 1)
        if not span:
            raise ValueError(f"the range {part.strip()} is empty")
        found.update(span)
    return tuple(sorted(found))


def _is_seed(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def still_open(runs: Sequence[Run], finished: frozenset[str]) -> list[Run]:
    """Return the runs whose results are not there yet."""
    return [run for run in runs if run.part not in finished]
