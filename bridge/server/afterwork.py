"""What a round had no time for is planned on in a thread of its own until the cluster asks again."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.round.preparing import prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.round.memory import Memory
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, PlanResponse
    from formats.log import Log


class Afterwork:
    """One round's rest.

    Args:
        request: The round.
        response: Its answer.
        settings: The settings that it was planned by.
        hand_over: Called from the thread with what changes the memory of the cluster, if there is any use.
        log: Gets the trace of a failure.
    """

    def __init__(
        self,
        request: PlanRequest,
        response: PlanResponse,
        settings: Settings,
        hand_over: Callable[[Callable[[Memory], Memory]], None],
        log: Log,
    ) -> None:
        self._request = request
        self._response = response
        self._settings = settings
        self._hand_over = hand_over
        self._log = log
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="afterwork", daemon=True)

    def start(self) -> None:
        """Begin, unless it was stopped before or has begun."""
        if self._stopped.is_set() or self._thread.ident is not None:
            return
        try:
            self._thread.start()
        except RuntimeError as error:
            # No thread is to be had: the next round plans all of it.
            self._log.warning("not planned on after the answer", reason=str(error))

    def stop(self) -> None:
        """Have it end within the planning of one topology; what it found until then is dropped."""
        self._stopped.set()

    def _clock(self) -> float:
        return math.inf if self._stopped.is_set() else time.monotonic()

    def _work(self) -> None:
        try:
            prepared = prepare(self._request, self._response, self._settings, self._clock)
        except Exception:  # noqa: BLE001  # the round is answered: the next one plans all of it
            self._log.exception("planning on after the answer failed", round_id=self._request.round_id)
            return
        if prepared and not self._stopped.is_set():
            self._hand_over(lambda memory: replace(memory, prepared=prepared))
