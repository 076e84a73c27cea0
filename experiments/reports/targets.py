"""What an experiment should show, beside what it showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.reports.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Target:
    """One thing that the experiment should show.

    Attributes:
        text: What.
        measured: What was measured.
        reached: Whether it is so; None if the measurement does not tell.
    """

    text: str
    measured: str
    reached: bool | None


def target_table(targets: Iterable[Target]) -> list[str]:
    """Return the Markdown table of targets."""
    words = {True: "yes", False: "**no**", None: "not measured"}
    rows = ([each.text, each.measured, words[each.reached]] for each in targets)
    return table(("target", "measured", "reached"), rows)
