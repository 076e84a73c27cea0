"""Rules of the state file."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.agent.availability import History
from monitoring.agent.link_memory import LinkMemory
from monitoring.agent.state import State, load, resume, save
from monitoring.coordinate import Coordinate

if TYPE_CHECKING:
    from pathlib import Path

LINK = LinkMemory(300.0, 2.0, 9.5, 0.5, 4.0, 7.0, ((30.0, 21.5), (7.0, 20.0)))
STATE = State(
    1000.0,
    clean=True,
    coordinate=Coordinate((1.0, 2.0, 3.0), 0.5, 0.1),
    history=History(500.0, 20.0, 2.0, 60.0),
    links={"b": LINK, "c": replace(LINK, answered_age_s=None, samples=())},
)


def no_fault(reason: str) -> None:
    pytest.fail(reason)


def rewritten(path: Path, **change: Any) -> Path:
    """A state file with some parts exchanged."""
    save(path, STATE)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    return path


def test_a_state_survives_its_file(tmp_path: Path) -> None:
    save(tmp_path / "state", STATE)
    assert load(tmp_path / "state", 3, no_fault) == STATE
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_file_takes_its_name_when_the_disk_has_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    save(path, STATE)
    synced: list[tuple[bytes, bytes]] = []

    def sync(_descriptor: int) -> None:
        synced.append((path.read_bytes(), next(tmp_path.glob("state.*.new")).read_bytes()))

    monkeypatch.setattr(os, "fsync", sync)
    before = path.read_bytes()
    save(path, replace(STATE, clean=False))
    assert synced == [(before, path.read_bytes())]


def test_a_missing_file_differs_from_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "state", 3, no_fault)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version 1"),
        ({"coordinate": 5}, "not a list"),
        ({"coordinate": [1.0, 2.0]}, "dimensions"),
        ({"coordinate": [1.0, "2", 3.0]}, r"coordinate\[1\] is not a finite number"),
        ({"coordinate": [1.0, 10**400, 3.0]}, r"coordinate\[1\] is not a finite number"),
        ({"height": None}, "height is not a finite number"),
        ({"height": -1.0}, "height"),
        ({"bad_s": -1.0}, "bad_s is not a finite number from 0 on"),
        ({"saved": True}, "saved is not a finite number"),
        ({"saved": float("nan")}, "saved is not a finite number"),
        ({"outages": "2"}, "outages is not a finite number from 0 on"),
        ({"outages": None}, "outages is not a finite number from 0 on"),
        ({"outages": -1}, "outages is not a finite number from 0 on"),
        ({"since_outage_s": [1]}, "since_outage_s is not a finite number from 0 on"),
        ({"good_s": float("inf")}, "good_s is not a finite number from 0 on"),
        ({"good_s": 10**400}, "good_s is not a finite number from 0 on"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        load(rewritten(tmp_path / "state", **change), 3, no_fault)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", pytest.param(b"[" * 100_000, id="deep")])
def test_other_content_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(ValueError, match="not"):
        load(tmp_path / "state", 3, no_fault)


def test_a_planned_pause_costs_no_availability_and_a_crash_does() -> None:
    planned = resume(STATE, 1600.0)
    crashed = resume(replace(STATE, clean=False), 1600.0)
    assert planned.history.bad_s < STATE.history.bad_s
    assert crashed.history.bad_s == pytest.approx(620.0, rel=0.01)


def test_a_crash_is_one_more_outage_that_has_just_ended_and_a_planned_pause_none() -> None:
    planned = resume(STATE, 1600.0).history
    crashed = resume(replace(STATE, clean=False), 1600.0).history
    assert (planned.outages, planned.since_outage_s) == (pytest.approx(2, rel=0.01), 660.0)
    assert (crashed.outages, crashed.since_outage_s) == (pytest.approx(3, rel=0.01), 0.0)


def test_a_file_of_an_agent_that_counted_no_outages_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save(path, STATE)
    fields = json.loads(path.read_text())
    del fields["outages"], fields["since_outage_s"]
    path.write_text(json.dumps(fields))
    assert load(path, 3, no_fault).history == History(500.0, 20.0)


def test_a_restored_coordinate_is_not_trusted_at_once() -> None:
    after = resume(STATE, 1600.0).coordinate
    assert after.position_ms == STATE.coordinate.position_ms
    assert after.error == 0.5


def test_a_wall_clock_that_went_back_counts_as_no_pause() -> None:
    history = resume(replace(STATE, clean=False), 10.0).history
    assert (history.good_s, history.bad_s) == (STATE.history.good_s, STATE.history.bad_s)


def test_a_file_of_an_agent_that_kept_no_links_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save(path, STATE)
    fields = json.loads(path.read_text())
    del fields["links"]
    path.write_text(json.dumps(fields))
    assert load(path, 3, no_fault) == replace(STATE, links={})


def link(**change: Any) -> dict[str, Any]:
    fields = {"good_s": 1, "bad_s": 0, "answered": 3, "unanswered": 0, "probed_age_s": 2.5}
    return {"version": 1, "peers": {"b": {**fields, "answered_age_s": None, "samples": [], **change}}}


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ([], "links is not of version 1"),
        ({"version": 2, "peers": {}}, "links is not of version 1"),
        ({"version": 1}, "links.peers is not an object"),
        ({"version": 1, "peers": {"b": 7}}, "links.peers.b is not an object"),
        (link(good_s=10**400), "links.peers.b.good_s is not a finite number from 0 on"),
        (link(good_s=-1), "links.peers.b.good_s is not a finite number from 0 on"),
        (link(answered=True), "links.peers.b.answered is not a finite number from 0 on"),
        (link(probed_age_s=None), "links.peers.b.probed_age_s is not a finite number from 0 on"),
        (link(answered_age_s="7"), "links.peers.b.answered_age_s is not a finite number from 0 on"),
        (link(samples=None), "links.peers.b.samples is not a list"),
        (link(samples=[[1, 2], [3]]), "links.peers.b.samples[1] is not [age, delay]"),
        (link(samples=[[1, float("nan")]]), "links.peers.b.samples[0] is not a finite number from 0 on"),
    ],
)
def test_a_malformed_part_about_links_is_reported_once_and_costs_only_them(
    tmp_path: Path, links: object, reason: str
) -> None:
    faults: list[str] = []
    read = load(rewritten(tmp_path / "state", links=links), 3, faults.append)
    assert faults == [reason]
    assert read == replace(STATE, links={})


def test_what_is_known_of_links_grows_old_during_a_pause() -> None:
    links = resume(STATE, 1020.0).links
    assert links["b"] == replace(
        LINK, probed_age_s=24.0, answered_age_s=27.0, samples=((50.0, 21.5), (27.0, 20.0))
    )
    assert links["c"].answered_age_s is None


def test_after_a_wall_clock_that_went_back_nothing_is_known_of_links() -> None:
    assert resume(STATE, 999.0).links == {}
