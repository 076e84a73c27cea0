"""The past of a link over a restart of its agent, and its form in the state file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from monitoring.json_input import amount_at, list_at

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION = 1
_NUMBERS = ("good_s", "bad_s", "answered", "unanswered", "probed_age_s")


@dataclass(frozen=True, slots=True)
class LinkMemory:
    """The past of one link; ages are s before the moment that it was taken.

    Attributes:
        good_s: Good seconds of its availability.
        bad_s: Bad seconds. A silence that has not been judged yet is in neither.
        answered: Faded number of answered probes.
        unanswered: Faded number of lost ones.
        probed_age_s: Time since the last probe ended.
        answered_age_s: Time since the last answer; None if there was none, or if it speaks for nothing as the
            link was cut since.
        samples: Age and one-way delay in ms of each of the last samples, the oldest first.
    """

    good_s: float
    bad_s: float
    answered: float
    unanswered: float
    probed_age_s: float
    answered_age_s: float | None
    samples: tuple[tuple[float, float], ...]

    def age(self, passed_s: float) -> LinkMemory:
        """Return the same for `passed_s` seconds later."""
        answered_age_s = None if self.answered_age_s is None else self.answered_age_s + passed_s
        return replace(
            self,
            probed_age_s=self.probed_age_s + passed_s,
            answered_age_s=answered_age_s,
            samples=tuple((age_s + passed_s, delay_ms) for age_s, delay_ms in self.samples),
        )


def links_to_json(links: Mapping[str, LinkMemory]) -> dict[str, object]:
    """Give the links' part of a state file as an object for JSON."""
    peers = {
        peer: {
            **{name: getattr(link, name) for name in _NUMBERS},
            "answered_age_s": link.answered_age_s,
            "samples": [list(sample) for sample in link.samples],
        }
        for peer, link in links.items()
    }
    return {"version": _VERSION, "peers": peers}


def links_from_json(part: object) -> dict[str, LinkMemory]:
    """The inverse of `links_to_json`.

    Raises:
        ValueError: The part is none of this version; with the place and the reason.
    """
    if not isinstance(part, dict) or part.get("version") != _VERSION:
        raise ValueError(f"links is not of version {_VERSION}")
    peers = _object("links.peers", part.get("peers"))
    return {peer: _link(f"links.peers.{peer}", fields) for peer, fields in peers.items()}


def _link(place: str, value: object) -> LinkMemory:
    fields = _object(place, value)
    age_s = fields.get("answered_age_s")
    samples = list_at(f"{place}.samples", fields.get("samples"))
    return LinkMemory(
        **{name: amount_at(f"{place}.{name}", fields.get(name)) for name in _NUMBERS},
        answered_age_s=None if age_s is None else amount_at(f"{place}.answered_age_s", age_s),
        samples=tuple(_sample(f"{place}.samples[{number}]", each) for number, each in enumerate(samples)),
    )


def _sample(place: str, sample: object) -> tuple[float, float]:
    match sample:
        case [age_s, delay_ms]:
            return amount_at(place, age_s), amount_at(place, delay_ms)
    raise ValueError(f"{place} is not [age, delay]")


def _object(place: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{place} is not an object")  # noqa: TRY004 - one kind of error for all bad content
    return value
