"""What a run came to, from its results and the final entry, which may be missing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to.

    Without the run's final entry nobody has told what the filter counted and where components began.

    Attributes:
        rows: Rows fed.
        passed: Rows that passed the filter; None: not known.
        rejected: Rows turned away; None: not known.
        reasons: Rejected rows by reason.
        results: Different rows with a result.
        tops: Changes of the ten most frequent routes.
        repeated: Results that came again (around an outage of Redis, or with replay); the first one counts.
        began: Row at which a component began, by component, where that was not the run's first: it was
            restarted or moved while the query ran.
        replayed: Emits of rows that the source had read before, with replay.
        fast_rows: Rows before the paced ones.
        rate_per_s: Rate of the paced rows; 0 when there were none.
        faults: Sentences on what is missing; none in a good run.
    """

    rows: int
    passed: int | None
    rejected: int | None
    reasons: dict[str, int]
    results: int
    tops: int
    repeated: int
    began: dict[str, int]
    replayed: int
    fast_rows: int
    rate_per_s: float
    faults: tuple[str, ...]


def completed(known: Summary, final: Mapping[str, str]) -> Summary:
    """Return the summary of a run that has come to its end.

    Args:
        known: What is known without the final entry.
        final: The final entry's fields.
    """
    faults = [
        f"{component} missed {entry['count']} tuples: {entry['ranges']}"
        for component, entry in json.loads(final["lost"]).items()
    ]
    began: dict[str, int] = json.loads(final.get("began", "{}"))
    faults += [
        f"{component} began at row {row} and knows nothing of the rows before"
        for component, row in began.items()
    ]
    passed, rejected, rows = int(final["passed"]), int(final["rejected"]), int(final["rows"])
    if "filterByCoordinates" in began:  # it counts, so these counts miss its earlier life
        faults.append(f"{passed} passed and {rejected} rejected rows are counted from its begin")
    else:
        if known.results != passed:
            faults.append(f"{passed} rows passed the filter, but {known.results} have a result")
        if passed + rejected != rows:
            faults.append(f"of {rows} rows {passed} passed and {rejected} were rejected")
    return replace(
        known,
        rows=rows,
        passed=passed,
        rejected=rejected,
        reasons=json.loads(final["reasons"]),
        began=began,
        faults=tuple(faults),
    )


def broken_off(known: Summary, quiet_s: float) -> Summary:
    """Return the summary of a run that has not come to its end.

    Args:
        known: What is known without the final entry.
        quiet_s: For how long nothing new came, seconds.
    """
    fault = (
        f"no final entry: nothing new for {quiet_s:g} s after {known.results} results; a row is never done, "
        "a component was lost, or nothing feeds the run"
    )
    return replace(known, faults=(fault,))
