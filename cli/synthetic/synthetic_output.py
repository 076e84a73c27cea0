"""What the group `synthetic` prints: what a run measured, and how that compares with the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from topologies.synthetic.run_summary import RunSummary

MOST_PATHS = 10
MOST_STREAMS = 40
_WIDTH = 140


def print_summary(summary: RunSummary) -> None:
    """Print response time, rates by stream, and what to beware of."""
    console = _console()
    workload = summary.workload
    table = _table(
        "Streams", "stream", "tuples/s", "asked", "bytes", "asked", "tuples", "hop p50 ms", "p95 ms"
    )
    for k, (asked, got) in enumerate(zip(workload.streams, summary.streams, strict=True)):
        if k == MOST_STREAMS:
            break
        table.add_row(
            Text(workload.stream_name(k)),
            _number(got.rate),
            _number(asked.rate),
            _number(got.tuple_bytes, 0),
            _number(asked.tuple_bytes, 0),
            str(got.received),
            _number(None if got.hop is None else got.hop.p50_ms),
            _number(None if got.hop is None else got.hop.p95_ms),
        )
    console.print(table)
    if len(workload.streams) > MOST_STREAMS:
        console.print(f"{len(workload.streams) - MOST_STREAMS} more streams are in streams.csv")
    longest = summary.longest
    if longest is None:
        console.print("Response time: not known, no path has enough tuples (measure more: --tuples)")
        return
    delays = longest.delays
    console.print(
        f"Response time: p50 {delays.p50_ms:.2f} ms, p95 {delays.p95_ms:.2f} ms, of {delays.tuples} tuples",
        highlight=False,
    )
    console.print(Text(f"on the longest of {len(summary.paths)} paths: {' > '.join(longest.operators)}"))
    if summary.unjudged:
        console.print(f"{summary.unjudged} paths have too few tuples to be compared (measure more: --tuples)")


def print_comparison(comparison: dict[str, Any]) -> None:
    """Print predicted and measured times, of the response and of each path.

    Args:
        comparison: As `experiments.synthetic.prediction.document` returns it.
    """
    console = _console()
    table = _table("Paths", "path", "tuples", "predicted ms", "p50 ms", "p95 ms", "deviation")
    for path in comparison["paths"][:MOST_PATHS]:
        table.add_row(
            Text(" > ".join(path["operators"])),
            str(path["tuples"]),
            _number(path["predicted_ms"]),
            _number(path["measured_p50_ms"]),
            _number(path["measured_p95_ms"]),
            _deviation(path["measured_p50_ms"], path["predicted_ms"]),
        )
    console.print(table)
    if len(comparison["paths"]) > MOST_PATHS:
        console.print(f"{len(comparison['paths']) - MOST_PATHS} shorter paths are not shown (--json)")
    predicted, p50 = comparison["predicted_ms"], comparison["measured_p50_ms"]
    lines = [
        f"Predicted response time: {predicted:.2f} ms, on {' > '.join(comparison['predicted_path'])}",
        f"Measured response time:  {p50:.2f} ms (p50), {comparison['measured_p95_ms']:.2f} ms (p95), on "
        f"{' > '.join(comparison['measured_path'])}",
        f"Deviation:               {_deviation(p50, predicted)}",
        "Hosts: " + ", ".join(f"{name} {host}" for name, host in comparison["hosts"].items()),
    ]
    for line in lines:
        console.print(Text(line))


def _deviation(measured_ms: float, predicted_ms: float) -> str:
    share = f" ({measured_ms / predicted_ms - 1.0:+.1%})" if predicted_ms else ""
    return f"{measured_ms - predicted_ms:+.2f} ms{share}"


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(first, title=title, title_justify="left")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _number(value: float | None, decimals: int = 2) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)
