"""What a folder of expected answers says about itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from replay.errors import DataError
from replay.output import MARK, read_json

if TYPE_CHECKING:
    from pathlib import Path

#: Folder of query 2's answers, inside that of query 1's; in runs of the stream too.
QUERY2 = "query2"


@dataclass(frozen=True)
class ExpectedSummary:
    """What the rows hold and how many answers one query has for them.

    Attributes:
        file: Name of the file or folder of rows.
        rows: Rows of it.
        valid: Trips that pass the filter.
        rejected: Rows turned away, by reason; a reason that never occurred is absent.
        output_rows: Rows of the challenge's output.
        instants: Different drop-off instants.
        minutes: Whole minutes in which trips ended.
        blocks: Blocks of event time that were worked on independently.
        queries: Queries whose answers the folder holds.
        semantics: Settings by name.
    """

    file: str
    rows: int
    valid: int
    rejected: dict[str, int]
    output_rows: int
    instants: int
    minutes: int
    blocks: int
    queries: list[int] = field(default_factory=lambda: [1])
    semantics: dict[str, str] = field(default_factory=dict)

    def sentence(self) -> str:
        """Return the summary in a few words."""
        rejected = ", ".join(f"{reason} {count:,}" for reason, count in self.rejected.items())
        return (
            f"rows {self.rows:,}, valid {self.valid:,}, rejected: {rejected or 'none'}; "
            f"output rows {self.output_rows:,}, instants {self.instants:,}, minutes {self.minutes:,}"
        )

    def document(self) -> dict[str, object]:
        """Return the summary as JSON values."""
        return asdict(self)


def query_folder(folder: Path, query: int) -> Path:
    """Return where a query's answers, or its part of a run, lie."""
    return folder if query == 1 else folder / QUERY2


def read_summary(folder: Path) -> ExpectedSummary:
    """Read the summary of one query's answers.

    Args:
        folder: That of the query, see `query_folder`.

    Raises:
        DataError: It is missing or something else.
    """
    try:
        return ExpectedSummary(**read_json(folder / MARK))  # type: ignore[arg-type]  # JSON, checked by name
    except TypeError as error:
        raise DataError(f"{folder / MARK}: not a summary of expected answers: {error}") from error


def read_queries(folder: Path) -> list[int]:
    """Return the queries whose answers a folder of expected answers holds.

    Raises:
        DataError: The folder is missing or not complete.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of expected answers")
    if not (folder / MARK).is_file():
        raise DataError(f"{folder}: holds no {MARK}: not a (complete) folder of expected answers")
    queries = read_json(folder / MARK).get("queries", [1])
    if not isinstance(queries, list) or not queries or not set(queries) <= {1, 2}:
        raise DataError(f"{folder / MARK}: queries: expected a list of 1 and 2, found {queries}")
    return queries
