"""A recorded round is planned again: the same request and settings give the same bytes anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.round.memory import Memory
from bridge.round.planner import plan_round
from bridge.settings_file import settings_from_json
from bridge.wire.encoding import decode_request, encode_response

if TYPE_CHECKING:
    from bridge.record.record import RoundRecord


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
    done = plan_round(
        decode_request(record.request),
        settings,
        _stopped_clock,
        memory=record.memory or Memory(),
        now_s=record.now_s or 0.0,
    )
    return encode_response(done.response)


def _stopped_clock() -> float:
    return 0.0
