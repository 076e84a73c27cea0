"""The past of a link over a restart of its agent, and its form in the state file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from monitoring.json_input import amount

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
    peers = part.get("peers")
    if not isinstance(peers, dict):
        raise ValueError("links.peers is not an object")  # noqa: TRY004 - one kind of error for all bad content
    return {peer: _link(f"links.peers.{peer}", fields) for peer, fields in peers.items()}


def _link(place: str, fields: object) -> LinkMemory:
    if not isinstance(fields, dict):
        raise ValueError(f"{place} is not an object")  # noqa: TRY004 - as above
    numbers = {name: _amount(f"{place}.{name}", fields.get(name)) for name in _NUMBERS}
    answered_age_s = fields.get("answered_age_s")
    if answered_age_s is not None:
        answered_age_s = _amount(f"{place}.answered_age_s", answered_age_s)
    samples = fields.get("samples")
    if not isinstance(samples, list):
        raise ValueError(f"{place}.samples is not a list")  # noqa: TRY004 - as above
    pairs = tuple(_sample(f"{place}.samples[{number}]", sample) for number, sample in enumerate(samples))
    return LinkMemory(**numbers, answered_age_s=answered_age_s, samples=pairs)


def _sample(place: str, sample: object) -> tuple[float, float]:
    match sample:
        case [age_s, delay_ms]:
            return _amount(place, age_s), _amount(place, delay_ms)
    raise ValueError(f"{place} is not [age, delay]")


def _amount(place: str, value: object) -> float:
    number = amount(value)
    if number is None:
        raise ValueError(f"{place} is not a finite number from 0 on")
    return number
