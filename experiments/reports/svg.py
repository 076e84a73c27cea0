"""Plots as inline SVG whose colours follow the page's, by day and by night."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping

INK, MUTED, GRID, PAPER, PALE = "#22303c", "#52606d", "#e4e7eb", "#ffffff", "#f4f6f8"

SERIES = ("#b35900", "#0072b2", "#00805c", "#8e4585", "#555555", "#a08000")
"""Colours that stay apart for colour-blind readers and in grey (after Okabe and Ito), on light ground."""

GROUND: Mapping[str, str] = {
    INK: "--ink",
    MUTED: "--muted",
    "#7b8794": "--muted",
    "#8795a1": "--edge",
    "#b6c0c9": "--edge",
    GRID: "--grid",
    PALE: "--pale",
}
_LINES: Mapping[str, str] = {color: f"--s{place}" for place, color in enumerate(SERIES)}

_ID = re.compile(r'(?<=\sid=")|(?<=href="#)|(?<=url\(#)')
_WHITE_BOX = re.compile(r'fill: #ffffff(?=; (?:stroke|opacity)|"/>)')


def figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure that takes its layout from what it holds."""
    made = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasSVG(made)
    return made


def inline_svg(drawn: Figure, name: str, label: str, *, follow_series: bool = True) -> str:
    """Return a figure as SVG to stand in a page.

    Args:
        drawn: The figure.
        name: Distinguishes its ids from those of other figures on the page.
        label: What it shows, for those who cannot see it.
        follow_series: Whether the colours of `SERIES` become lighter at night: not under white text.
    """
    buffer = io.StringIO()
    # text as outlines: what was laid out without overlaps stays so with any fonts
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": name}):
        drawn.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = _ID.sub(f"{name}-", text)
    text = _WHITE_BOX.sub("fill: var(--paper)", text).replace(f"stroke: {PAPER}", "stroke: var(--paper)")
    colors = {**GROUND, **_LINES} if follow_series else GROUND
    for color, variable in colors.items():
        text = text.replace(color, f"var({variable})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
