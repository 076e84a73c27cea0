"""Rows of a program whose prices say what its graphs compete for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.columns.prices import Prices

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.exact.form.class_form import ClassForm


@dataclass
class PricedRows:
    """Rows by what their prices are of.

    Attributes:
        capacity: By node and resource.
        place: By class, of one member, and node: that it is only where the node is in use.
        behind: By edge: how late results arrive.
        end: By class: that R is no less than its end.
    """

    capacity: dict[tuple[int, int], int] = field(default_factory=dict)
    place: dict[tuple[int, int], int] = field(default_factory=dict)
    behind: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)

    def prices(self, form: ClassForm, of_row: FloatArray) -> Prices:
        """Return the prices of a form's graphs.

        Args:
            form: The problem.
            of_row: (n_rows,) price of each row of its program, in F.
        """
        capacity, place = np.zeros(form.capacity.shape), np.zeros(form.slots.shape)
        for at, row in self.capacity.items():
            capacity[at] = max(0.0, -of_row[row])
        for at, row in self.place.items():
            place[at] = max(0.0, -of_row[row])
        end = np.zeros(form.n_classes)
        for c, row in self.end.items():
            end[c] = max(0.0, of_row[row])
        stream = {e: max(0.0, float(of_row[row])) for e, row in self.behind.items()}
        return Prices(capacity, place, stream, end)
