"""Looks at what a plan would do, on the last state that a cluster has shown."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bridge.round.preview import Change, PreviewError, preview
from bridge.server.clusters import UnknownClusterError
from bridge.wire.contract import (
    OLDEST_VERSION,
    VERSION,
    VersionError,
    WireError,
    check_present,
    check_version,
    idl,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.server.clusters import Shown
    from bridge.settings import Settings
    from formats.log import Log
    from scheduler.contract.children import Children


class Previews:
    """Answers previews, one at a time.

    Args:
        last: Returns the last round of a cluster, by its name; raises an UnknownClusterError.
        settings: Returns the daemon's settings.
        children: Runs what strategies leave to others.
        log: Takes failures.
    """

    def __init__(
        self,
        last: Callable[[str | None], Shown],
        settings: Callable[[], Settings],
        children: Children,
        log: Log,
    ) -> None:
        self._log = log
        self._last = last
        self._settings = settings
        self._children = children
        self._one = threading.Lock()

    def answer(self, raw: Any) -> str:
        """Return the answer to a thrift struct `PreviewRequest`, as JSON.

        Raises:
            Refused: The thrift exception: the request breaks the contract, or cannot be looked at.
        """
        try:
            _check(raw)
            change = Change(_settings(raw.settings_json), tuple(raw.drains or ()))
            return self._answer(raw.topology, raw.cluster, change)
        except VersionError as error:
            refused = idl.Refused(reason=str(error), oldest_version=OLDEST_VERSION, newest_version=VERSION)
            raise refused from error
        except (WireError, PreviewError, UnknownClusterError) as error:
            raise idl.Refused(reason=str(error)) from error
        except Exception as error:
            # Its caller must get an answer; rounds go on in any case.
            self._log.exception("preview failed", topology=raw.topology)
            raise idl.Refused(reason=f"the daemon failed to look: {type(error).__name__}: {error}") from error

    def _answer(self, topology: str, cluster: str | None, change: Change) -> str:
        # One that waits holds a connection, which the cluster's own rounds need.
        if not self._one.acquire(blocking=False):
            raise PreviewError("another look is being taken: ask again")
        try:
            shown = self._last(cluster)
            return json.dumps(self._look(topology, change, shown, time.monotonic()), allow_nan=False)
        finally:
            self._one.release()

    def _look(self, topology: str, change: Change, shown: Shown, now_s: float) -> dict[str, Any]:
        age_s = now_s - shown.time_s
        request = replace(
            shown.request,
            readings=tuple(
                replace(each, age_ms=each.age_ms + round(age_s * 1000)) for each in shown.request.readings
            ),
            drains=tuple(
                replace(each, age_ms=each.age_ms + round(age_s * 1000)) for each in shown.request.drains
            ),
        )
        answer = preview(
            request,
            topology,
            change,
            self._settings(),
            time.monotonic,
            memory=shown.memory,
            now_s=now_s,
            unix_s=time.time(),
            children=self._children,
        )
        return {**answer, "cluster": shown.request.cluster, "state_age_s": round(age_s, 3)}


def _check(raw: Any) -> None:
    if raw is None:
        raise WireError("the call carries no request")
    check_version(raw.version, "preview")
    check_present(raw, "preview")


def _settings(text: str | None) -> dict[str, object]:
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"preview.settings_json: not JSON ({error})") from error
    if not isinstance(found, dict):
        raise WireError("preview.settings_json: no JSON object")
    return found
