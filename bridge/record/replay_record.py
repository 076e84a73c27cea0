"""A recorded round is planned again: the same request and settings give the same bytes anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.round.malformed import name_malformed
from bridge.round.memory import Memory
from bridge.round.planner import plan_round
from bridge.settings_file import settings_from_json
from bridge.wire.contract import WireError
from bridge.wire.encoding import decode_received, decode_response, encode_response
from bridge.wire.messages import Price

if TYPE_CHECKING:
    from bridge.record.record import RoundRecord
    from bridge.wire.messages import PlanResponse


def replay(record: RoundRecord) -> bytes:
    """Plan a recorded round without a time limit.

    Args:
        record: The round. If its `timed_out` is true the result may be better than what was recorded.

    Returns:
        Bytes of the response.

    Raises:
        WireError: The request is of a version that is not known here.
        SettingsError: The settings are not of this version.
    """
    settings = settings_from_json(record.settings_json)
    if record.memory is None or record.now_s is None:
        # It was planned before anything waited, and its settings do not say so.
        at_once = settings.move.model_copy(update={"cool_down_s": 0.0, "stabilisation_s": 0.0})
        settings = settings.model_copy(update={"move": at_once})
    if "fresh_ports" not in settings.move.model_fields_set:
        # It was planned before workers got other ports.
        as_then = settings.move.model_copy(update={"fresh_ports": False})
        settings = settings.model_copy(update={"move": as_then})
    received = decode_received(record.request)
    done = plan_round(
        received.request,
        settings,
        _stopped_clock,
        memory=record.memory or Memory(),
        now_s=record.now_s or 0.0,
        unix_s=record.time_s,
    )
    return encode_response(name_malformed(done.response, received.malformed))


def same_plans(one: bytes, other: bytes) -> bool:
    """Whether two responses differ in what changes with versions at most: status lines and price lists."""
    try:
        return _without_words(one) == _without_words(other)
    except WireError:  # one is no response
        return False


def _without_words(response: bytes) -> PlanResponse:
    decoded = decode_response(response)
    return replace(
        decoded,
        plans=tuple(replace(plan, status="", price=_counts(plan.price)) for plan in decoded.plans),
    )


def _counts(price: Price | None) -> Price | None:
    """Return a price as all versions state it."""
    if price is None:
        return None
    return Price(price.gain, price.executors_moved, price.workers_moved, price.executors_restarted)


def _stopped_clock() -> float:
    return 0.0
