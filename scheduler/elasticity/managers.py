"""What managers of operators and regions have in common: which samples count, and kinds of requests."""

from __future__ import annotations

from typing import Literal, Protocol

RequestVerdict = Literal["asked", "kept", "held", "limited"]
"""Of a request; "held": there was no sample to decide on, "limited": more is needed than there can be."""


class _Aged(Protocol):
    @property
    def until_s(self) -> float: ...


def why_held(now_s: float, sample: _Aged | None, changed_s: float | None, age_max_s: float) -> str:
    """Return why nothing is decided on a sample; empty if it counts.

    Args:
        now_s: Time of the decision, s.
        sample: With the end of its interval.
        changed_s: When what it is about last changed, s; None: never.
        age_max_s: Age above which it decides nothing, s.
    """
    if sample is None:
        return "there is no sample"
    age_s = now_s - sample.until_s
    if age_s > age_max_s:
        return f"the sample is {age_s:g} s old, the limit is {age_max_s:g} s"
    if changed_s is not None and sample.until_s <= changed_s:
        return "the sample is from before the last change"
    return ""
