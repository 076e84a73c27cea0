"""Names shared by topology, feeder and collector: Redis keys of one run, and its queries."""

from __future__ import annotations

from dataclasses import dataclass

from topologies.run_id import NamedRun

QUERIES = ("1", "2")
"""The challenge's queries: the most frequent routes, and the most profitable areas."""

PACED_ROWS_BEGIN = "paced rows begin"
"""What `taxi feed` and `taxi replay` write when they do, at the start of a line."""


@dataclass(frozen=True, slots=True)
class Run(NamedRun):
    """One pass of rows through the topology; all of its Redis keys start with `taxi:<id>:`."""

    @property
    def rows(self) -> str:
        """Stream of rows, written by the feeder."""
        return f"taxi:{self.id}:rows"

    @property
    def feed(self) -> str:
        """Hash with how the rows are fed."""
        return f"taxi:{self.id}:feed"

    @property
    def progress(self) -> str:
        """Hash with the epoch, and how far each query has come."""
        return f"taxi:{self.id}:progress"

    def results_of(self, query: str) -> str:
        """Return the stream of a query's results."""
        return f"taxi:{self.id}:{'results' if query == '1' else 'area-results'}"
