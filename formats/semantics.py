"""The choices that the challenge's text leaves open, as named settings.

The first value of each is the project's choice, the others are those of other implementations
(docs/design/021).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREFIX = "taxi.semantics."
"""Topology configuration: a setting's key is this and its name, for example `taxi.semantics.nulls`."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """How the queries are read; the defaults are the project's choice.

    In topology configuration and commands a setting's name has `-` in place of `_`.

    Attributes:
        nulls: `NULL`s of a missing rank: one for each cell and value (`per-cell`), or one (`per-route`).
        pickup: Printed pick-up time: the `column`, or `computed` as drop-off minus trip_time_in_secs (where
            that is a whole number).
        area_grid: `centred`: area 1.1 lies around the challenge's point; `corner`: the 500 m cells are cut in
            four.
        median: `exact`: of an even number of trips the mean of the middle two; `cents`: that, cut to whole
            cents.
        idle_areas: An area with an empty taxi and no trip is `hidden`, or listed with a profit of `zero`.
        negative_profit: A trip whose fare + tip is below zero is `kept`, or `ignored` for the profit.
        q2_emit: Query 2 writes a row when the ten `areas` or their order change, or also when their `values`
            do.
        profitability: `exact`, or `cents`: cut to whole cents towards zero, before areas are ranked.
        equal_counts: Of two routes with equal counts the one with the `freshest-trip` in the window is first,
            or the one whose count was the `latest-change`, gains and losses alike.
        expiry: What leaves the windows between two rows shows `with-rows`, in the output of the next one, or
            in `own-rows` too: one for each such instant that changes the answer, both of its times that one.
    """

    nulls: Literal["per-cell", "per-route"] = "per-cell"
    pickup: Literal["column", "computed"] = "column"
    area_grid: Literal["centred", "corner"] = "centred"
    median: Literal["exact", "cents"] = "exact"
    idle_areas: Literal["hidden", "zero"] = "hidden"
    negative_profit: Literal["kept", "ignored"] = "kept"
    q2_emit: Literal["areas", "values"] = "areas"
    profitability: Literal["exact", "cents"] = "exact"
    equal_counts: Literal["freshest-trip", "latest-change"] = "freshest-trip"
    expiry: Literal["with-rows", "own-rows"] = "with-rows"

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> Self:
        """Return the choices by name, `-` in place of `_`; the others are the defaults.

        Raises:
            ValueError: There is no such setting, or it has no such value.
        """
        for name, value in settings.items():
            if name not in CHOICES:
                raise ValueError(f"{name}: no such setting; there are {', '.join(CHOICES)}")
            if value not in CHOICES[name]:
                raise ValueError(f"{name}: {value} is none of {', '.join(CHOICES[name])}")
        chosen: dict[str, Any] = {name.replace("-", "_"): value for name, value in settings.items()}
        return cls(**chosen)

    @classmethod
    def from_conf(cls, conf: Mapping[str, object]) -> Self:
        """Read the topology's configuration.

        Raises:
            ValueError: As `of`.
        """
        own = {key.removeprefix(PREFIX): value for key, value in conf.items() if key.startswith(PREFIX)}
        try:
            return cls.of(own)
        except ValueError as error:
            raise ValueError(f"topology configuration: {PREFIX}*: {error}") from error

    def conf(self) -> dict[str, object]:
        """Return the topology configuration of these choices."""
        return {PREFIX + name: value for name, value in self.document().items()}

    def document(self) -> dict[str, str]:
        """Return the choices by name, as `of` takes them."""
        return {each.name.replace("_", "-"): getattr(self, each.name) for each in fields(self)}


CHOICES: Mapping[str, tuple[str, ...]] = {
    name.replace("_", "-"): get_args(hint) for name, hint in get_type_hints(Semantics).items()
}
"""The values of each setting, the default first."""


def parse_settings(texts: Iterable[str]) -> Semantics:
    """Return the choices of `KEY=VALUE` texts.

    Raises:
        ValueError: One has another form, comes twice, or is no setting.
    """
    settings: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{text}: expected KEY=VALUE")
        if name in settings:
            raise ValueError(f"{name}: given twice")
        settings[name] = value
    return Semantics.of(settings)
