"""HTML reports: one page from a template, with its pictures inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from experiments.reports.svg import inline_svg
from replay.errors import MachineError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TEMPLATES = Path(__file__).parents[1]


def render(template: str, **content: object) -> str:
    """Fill a template; texts are escaped, pictures become part of the page.

    Args:
        template: Path below `experiments`.
        content: What the template names. Filters: `svg` draws a figure, `fixed` writes a number with so many
            decimals.
    """
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        extensions=["jinja2.ext.do"],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"svg": _svg, "fixed": lambda number, decimals=0: f"{number:,.{decimals}f}"}
    return made.get_template(template).render(**content)


def write_page(text: str, path: Path) -> None:
    """Write a page beside its place and rename it.

    Raises:
        MachineError: It cannot be written.
    """
    scratch = path.with_name(f".{path.name}")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise MachineError(f"{path}: cannot be written: {error.strerror}") from error


def _svg(figure: Figure, name: str, label: str, *, follow_series: bool) -> Markup:
    return Markup(inline_svg(figure, name, label, follow_series=follow_series))  # noqa: S704 - our own picture
