"""Preconditions of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.errors import MachineError
from replay.failures import cause
from replay.session import LONG_RUN, QUICK_START, jvm_options, require_java

if TYPE_CHECKING:
    from pathlib import Path


def test_a_missing_java_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MachineError, match="no program `java` on PATH"):
        require_java()

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MachineError, match="holds no bin/java"):
        require_java()

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    require_java()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("An error occurred while calling o1.x.\n: a.B: no\n\tat c.D", "a.B: no"),
        ("An error occurred while calling o1.x.\n: a.B: no\nCaused by: c.D: why\n\tat e.F", "c.D: why"),
        ("[KEY] What it is. SQLSTATE: 1", "[KEY] What it is. SQLSTATE: 1"),
        ("", "no reason given"),
    ],
)
def test_the_innermost_cause_is_named(message: str, said: str) -> None:
    assert cause(RuntimeError(message)) == said


def test_the_jvm_compiles_by_the_size_of_the_work() -> None:
    assert jvm_options(0) == QUICK_START
    assert jvm_options(400_000_000) == LONG_RUN


@pytest.mark.spark
def test_the_session_listens_on_loopback_only(spark: object) -> None:
    conf = spark.conf  # type: ignore[attr-defined]  # typed in conftest

    assert conf.get("spark.driver.host") == conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert conf.get("spark.ui.enabled") == "false"
    assert conf.get("spark.sql.session.timeZone") == "UTC"
