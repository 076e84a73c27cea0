"""One JSON line per round in which a policy was asked: enough to ask it again, with the same outcome."""

from __future__ import annotations

import gzip
import json
import logging
import shutil
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provisioning.loop.codec import codec
from provisioning.loop.deciding import without_topologies
from scheduler.elasticity.layers.kinds import POLICIES
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.observation import Observation

if TYPE_CHECKING:
    from provisioning.loop.report import Report

VERSION = 2
_BYTES = 32 * 2**20
_FILES = 20
"""Full files are compressed, to a thirtieth: hours of rounds of the largest clusters, weeks of others."""


class RoundRecord:
    """Writes rounds to a file, of which a few are kept.

    Args:
        path: The file; older ones have a number at their end, and are compressed.

    Raises:
        OSError: It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._handler = RotatingFileHandler(path, maxBytes=_BYTES, backupCount=_FILES - 1, encoding="utf-8")
        self._handler.namer = "{}.gz".format
        self._handler.rotator = _compressed

    def write(self, mode: str, kind: str, report: Report) -> None:
        """Add a round; one in which no policy was asked is none."""
        if report.asked is None or report.decision is None:
            return
        line = {
            "version": VERSION,
            "time": report.now_s,
            "mode": mode,
            "kind": kind,
            "limited": report.limited,
            "parameters": _plain(report.asked.parameters),
            "state": report.asked.state,
            "observation": _plain(without_topologies(report.asked.observation, report.asked.left_out)),
            "decision": _plain(report.decision),
        }
        self._handler.emit(logging.makeLogRecord({"msg": json.dumps(line, allow_nan=False)}))

    def close(self) -> None:
        """Close the file."""
        self._handler.close()


def _compressed(source: str, target: str) -> None:
    with Path(source).open("rb") as full, gzip.open(target, "wb", compresslevel=1) as file:
        shutil.copyfileobj(full, file)
    Path(source).unlink()


def _plain(value: Any) -> Any:
    return codec(type(value)).dump_python(value, mode="json")


def asked_again(line: str) -> tuple[LeasingDecision, LeasingDecision]:
    """Return what was decided in a recorded round, and what the policy decides now on the same.

    Args:
        line: Of the file.

    Raises:
        ValueError: It is no line of this version.
    """
    found = json.loads(line)
    if found["version"] != VERSION:
        raise ValueError(f"version: expected {VERSION}, got {found['version']}")
    kind = POLICIES[found["kind"]]
    parameters = codec(kind.parameters).validate_python(found["parameters"])
    state = kind.first if found["state"] is None else codec(type(kind.first)).validate_python(found["state"])
    observation = codec(Observation).validate_python(found["observation"])
    decision, _ = kind.decide(observation, state, parameters, 0)
    return codec(LeasingDecision).validate_python(found["decision"]), decision
