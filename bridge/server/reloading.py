"""Settings are read again while the daemon runs: good ones count from the next round on, bad ones never."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.settings import Settings
from bridge.settings_file import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.server.handler import RoundHandler
    from formats.log import Log

# Sockets, files and the log are opened with these once.
_FROM_THE_START = ("server", "record", "metrics", "log")
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class Taken:
    """What becomes of new settings in a running daemon.

    Attributes:
        settings: Those that count from now on.
        changed: Keys that have other values in them than before.
        left: Keys whose new value takes a restart; they keep the old one.
    """

    settings: Settings
    changed: tuple[str, ...]
    left: tuple[str, ...]


def take_over(present: Settings, new: Settings) -> Taken:
    """Replace all values that a running daemon can replace."""
    sections = tuple(Settings.model_fields)
    live = {section: getattr(new, section) for section in sections if section not in _FROM_THE_START}
    settings = present.model_copy(update=live)
    changed = tuple(key for section in live for key in _changed(present, new, section))
    left = tuple(key for section in _FROM_THE_START for key in _changed(present, new, section))
    return Taken(settings, changed, left)


def _changed(present: Settings, new: Settings, section: str) -> list[str]:
    before, after = getattr(present, section), getattr(new, section)
    return [
        f"{section}.{key}" for key in type(before).model_fields if getattr(before, key) != getattr(after, key)
    ]


class Reloading:
    """Reads the settings again when it is asked to, on a thread of its own.

    Args:
        load: Reads them; raises `SettingsError`. None if the daemon was started without a file.
        handler: Plans by them.
        log: Takes a line for each time.
    """

    def __init__(self, load: Callable[[], Settings] | None, handler: RoundHandler, log: Log) -> None:
        self._load = load
        self._handler = handler
        self._log = log
        # The only queue whose `put` a signal handler may call.
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="settings", daemon=True)
        self._thread.start()

    def ask(self) -> None:
        """Have the settings read soon; may be called from a signal handler."""
        self._asked.put(True)

    def close(self) -> None:
        """End its thread, unless a file system holds it up."""
        self._asked.put(False)
        self._thread.join(_PATIENCE_S)

    def _work(self) -> None:
        while self._asked.get():
            self._reload()

    def _reload(self) -> None:
        if self._load is None:
            self._log.warning("settings not reloaded", reason="the daemon was started without --config")
            return
        try:
            new = self._load()
        except SettingsError as error:
            self._log.error("settings not reloaded", reason=str(error))
            return
        taken = take_over(self._handler.settings, new)
        self._handler.use(taken.settings)
        self._log.info("settings reloaded", changed=taken.changed, settings_digest=taken.settings.digest())
        if taken.left:
            self._log.warning("settings that take a restart keep their values", keys=taken.left)
        log_doubts(taken.settings, self._log)


def log_doubts(settings: Settings, log: Log) -> None:
    """Log which values contradict each other, a line each."""
    for doubt in settings.doubts():
        log.warning("doubtful settings", reason=doubt)
