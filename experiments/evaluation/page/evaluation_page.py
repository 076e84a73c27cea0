"""The page of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.evaluation.page import city, response, sentences, way
from experiments.reports.rendered import render

if TYPE_CHECKING:
    from experiments.evaluation.page.contents import Evaluation


def html(made: Evaluation) -> str:
    """Return the report as one HTML page that needs no other file."""
    drawing = {"city": city, "response": response, "sentences": sentences, "way": way}
    return render("evaluation/page/evaluation.html.j2", title=made.title, made=made, **drawing)
