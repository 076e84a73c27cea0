"""Settings that are read again count from the next round on, bad ones never, and some take a restart."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from bridge.server.handler import RoundHandler
from bridge.server.reloading import Reloading, take_over
from bridge.settings import MoveSettings, PlanSettings, ServerSettings, Settings
from bridge.settings_file import load_settings
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from formats.log import Log
from tests.bridge.round.planner_rounds import PINNED, SCATTERED


class Scene:
    """A handler whose settings are read from a file."""

    def __init__(self, tmp_path, text=""):
        self.file = tmp_path / "daemon.toml"
        self.text = io.StringIO()
        log = Log(stream=self.text)
        self.file.write_text(text)
        self.handler = RoundHandler(self.load(), None, log)
        self.reloading = Reloading(self.load, self.handler, log)

    def load(self):
        return load_settings(self.file, ["local-search"])

    def reload(self, text):
        """Ask for it, and wait until it is done."""
        self.file.write_text(text)
        self.reloading.ask()
        self.reloading.close()

    def lines(self):
        return [json.loads(line) for line in self.text.getvalue().splitlines()]


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def test_new_settings_count_from_the_next_round_on(make, scene):
    """A move that had to wait need not any more; the log names the keys."""
    request = to_thrift(make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED)))
    assert scene.handler.call().plan(request).plans[0].decision == Decision.KEEP
    scene.reload("[move]\nstabilisation_s = 0\ncool_down_s = 0\n")
    assert scene.handler.call().plan(request).plans[0].decision == Decision.ASSIGN
    (line,) = [line for line in scene.lines() if line["event"] == "settings reloaded"]
    assert line["changed"] == ["move.cool_down_s", "move.stabilisation_s"]
    assert line["settings_digest"] == scene.handler.settings.digest()


def test_bad_settings_change_nothing_and_are_named(scene):
    """All faults in one sentence, as at the start."""
    before = scene.handler.settings
    scene.reload("[move]\nmin_gain = 2\n[plan]\nseed = -1\n")
    assert scene.handler.settings is before
    (line,) = scene.lines()
    assert (line["event"], line["level"]) == ("settings not reloaded", "error")
    assert line["reason"] == (
        f"{scene.file}: move.min_gain: must be <= 1.0, got 2; plan.seed: must be >= 0, got -1"
    )


def test_what_takes_a_restart_is_named_and_left(scene):
    """The rest of the file counts."""
    scene.reload("[server]\nport = 9\nidle_timeout_s = 1\n[log]\nlevel = 'error'\n[plan]\nseed = 5\n")
    settings = scene.handler.settings
    assert (settings.plan.seed, settings.server, settings.log.level) == (5, ServerSettings(), "info")
    reloaded, left = scene.lines()
    assert reloaded["changed"] == ["plan.seed"]
    assert left["event"] == "settings that take a restart keep their values"
    assert left["keys"] == ["server.port", "server.idle_timeout_s", "log.level"]


def test_settings_that_contradict_each_other_are_named(scene):
    """They count all the same."""
    scene.reload("[plan]\ndeadline_margin_ms = 900\n")
    assert [line["event"] for line in scene.lines()] == ["settings reloaded", "doubtful settings"]


def test_a_daemon_without_a_file_has_nothing_to_reload(scene):
    """Its log says why."""
    text = io.StringIO()
    reloading = Reloading(None, scene.handler, Log(stream=text))
    reloading.ask()
    reloading.close()
    line = json.loads(text.getvalue())
    assert (line["event"], line["reason"]) == (
        "settings not reloaded",
        "the daemon was started without --config",
    )


def test_every_section_is_either_replaced_or_named():
    """A new section is not forgotten: by default it is replaced."""
    new = Settings(move=MoveSettings(min_gain=0.5), server=ServerSettings(port=1), plan=PlanSettings(seed=1))
    taken = take_over(Settings(), new)
    assert taken.settings == Settings(move=new.move, plan=new.plan)
    assert (taken.changed, taken.left) == (("move.min_gain", "plan.seed"), ("server.port",))
    assert take_over(new, new).changed == take_over(new, new).left == ()


def test_a_round_under_way_goes_by_the_settings_that_it_began_with(make, scene, monkeypatch):
    """It is planned and recorded by one set."""
    used = []

    def planned(_request, settings, *_, **__):
        scene.handler.use(Settings(plan=PlanSettings(seed=7)))
        used.append(settings)
        raise ZeroDivisionError("enough")

    monkeypatch.setattr("bridge.server.handler.plan_round", planned)
    before = scene.handler.settings
    for _ in range(2):
        with pytest.raises(Exception, match="the daemon failed to plan"):
            scene.handler.call().plan(to_thrift(replace(make.cluster(), round_id="r")))
    assert used[0] is before
    assert used[1].plan.seed == 7
