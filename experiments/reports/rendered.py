"""Reports from templates: pages of HTML with their pictures inside, and texts in Markdown."""

from __future__ import annotations

import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from experiments.reports.svg import inline_svg
from replay.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_TEMPLATES = Path(__file__).parents[1]


def render(template: str, **content: object) -> str:
    """Fill a template; in HTML texts are escaped, and pictures become part of the page.

    Args:
        template: Path below `experiments`.
        content: What the template names.
    """
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(("html.j2",)),
        extensions=["jinja2.ext.do"],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["inf"] = math.inf
    made.filters |= {
        "svg": _svg,
        # numbers with so many decimals: thousands apart, and plain
        "fixed": lambda number, decimals=0: f"{number:,.{decimals}f}",
        "plain": lambda number, decimals: f"{number:.{decimals}f}",
        # different values in their order
        "distinct": lambda values: " / ".join(dict.fromkeys(values)),
    }
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


@contextmanager
def report_folder(out: Path, old: str = "") -> Iterator[None]:
    """Make the folder of a report that is written inside the block.

    Args:
        out: The folder.
        old: Pattern of an earlier report's pictures, which are removed.

    Raises:
        MachineError: It cannot be made or written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in out.glob(old) if old else ():
            path.unlink()
        yield
    except OSError as error:
        raise MachineError(f"{out}: cannot be written: {error.strerror}") from error


def _svg(figure: Figure, name: str, label: str, *, follow_series: bool) -> Markup:
    return Markup(inline_svg(figure, name, label, follow_series=follow_series))  # noqa: S704 - our own picture
