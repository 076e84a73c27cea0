"""The lab around a demo or an experiment: what is ended, by whom, and what is left alone."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.interrupt import all_as_ctrl_c
from cli.progress import StepProgress
from experiments import running_lab
from lab.errors import LabError
from tests.experiments.lab_double import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator

SITES = Path("sites.toml")


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lab:
    double = Lab(tmp_path, {})
    monkeypatch.setattr(running_lab, "LabClient", lambda _: double)
    return double


@pytest.fixture
def around(tmp_path: Path) -> Any:
    return lambda: running_lab.running_lab(tmp_path, SITES, "even", StepProgress(total=1))


@pytest.mark.parametrize("end", [None, ValueError, KeyboardInterrupt])
def test_a_lab_is_gone_after_its_block(lab: Lab, around: Any, end: type[BaseException] | None) -> None:
    """Whatever ends the block."""

    def run() -> None:
        with around():
            assert lab.state == "ready"
            if end is not None:
                raise end

    if end is None:
        run()
    else:
        with pytest.raises(end):
            run()
    assert (lab.state, lab.ups, lab.downs) == ("absent", 1, 1)


def test_a_lab_hangs_on_the_command_that_started_it(lab: Lab, around: Any) -> None:
    """One that is killed cannot take it down."""
    with around():
        assert lab.tied


def test_a_lab_that_refuses_to_start_is_not_ended(lab: Lab, around: Any) -> None:
    """It is somebody else's who was quicker."""

    def somebody_else(_: Any) -> None:
        lab.state = "ready"

    lab._acts["up"] = somebody_else
    with pytest.raises(LabError, match="already running"), around():
        pytest.fail("no lab of ours")
    assert (lab.state, lab.downs) == ("ready", 0)


def test_a_lab_that_was_left_behind_is_replaced(
    lab: Lab, around: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who calls has the folder alone, so that no other process can be using it."""
    lab.state = "ready"
    with around():
        assert (lab.ups, lab.downs) == (1, 1)
    assert "ended the lab that a killed command had left" in capsys.readouterr().err


@pytest.fixture
def handlers() -> Iterator[dict[signal.Signals, Any]]:
    """Those of the signals that end a command; put back afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield before
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_command_cleans_up_as_ctrl_c_does(number: signal.Signals, handlers: Any) -> None:
    """Once: a second one does not break off the cleaning up."""
    cleaned = []

    def run() -> None:
        with all_as_ctrl_c():
            try:
                signal.raise_signal(number)
            finally:
                for again in handlers:
                    signal.raise_signal(again)
                cleaned.append(True)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert cleaned
    assert {each: signal.getsignal(each) for each in handlers} == handlers


def test_a_signal_that_was_ignored_stays_ignored(handlers: Any) -> None:  # noqa: ARG001 - puts back
    """A command that `nohup` runs outlives its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with all_as_ctrl_c():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
