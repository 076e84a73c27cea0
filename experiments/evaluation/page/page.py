"""The whole page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from experiments.evaluation.page import sections
from experiments.evaluation.page.markup import paragraph, section
from experiments.evaluation.page.style import STYLE
from replay.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.evaluation.page.contents import Evaluation


def html(made: Evaluation) -> str:
    """Return the report as one HTML page that needs no other file."""
    parts = [
        f"<h1>{escape(made.title)}</h1>",
        f'<p class="origin">{escape(made.origin)}</p>',
        _verdict(made),
        sections.figures(made),
        sections.setting(made),
        *(sections.response_times(made, query) for query in made.queries),
        sections.where_time_goes(made),
        sections.placements(made),
        sections.rounds(made),
        sections.answers(made),
        _repeat(made),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(made.title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def write(made: Evaluation, path: Path) -> None:
    """Write the report beside its place and rename it.

    Raises:
        MachineError: It cannot be written.
    """
    scratch = path.with_name(f".{path.name}")
    try:
        scratch.write_text(html(made), encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise MachineError(f"{path}: cannot be written: {error.strerror}") from error


def _verdict(made: Evaluation) -> str:
    checks = [(run.name, check) for run in made.runs for check in run.checks]
    right = all(check.equal for _, check in checks)
    head = "All answers are right" if right else "Answers are wrong"
    items = "".join(
        f"<li><strong>{escape(name)}</strong>, query {check.query}: {escape(check.sentence)}</li>"
        for name, check in checks
    )
    how = "Each was compared with what Spark computed from the same rows, independently of the topology."
    return (
        f'<div class="verdict{"" if right else " bad"}"><strong class="head">{head}</strong>'
        f"<p>{how}</p><ul>{items}</ul></div>"
    )


def _repeat(made: Evaluation) -> str:
    return section("Do it again", f"<p><code>{escape(made.command)}</code></p>", paragraph(made.origin))
