from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab import checks
from lab.errors import LabError


def program(folder: Path, name: str, script: str = "exit 0") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH and holds every program that a lab needs, and a Storm home."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in checks._PROGRAMS:
        program(folder, name)
    program(folder, "java", """echo 'openjdk version "17.0.1" 2021-10-19' >&2""")
    (tmp_path / "RELEASE").touch()
    monkeypatch.setattr(checks, "SEARCH_PATH", str(folder))
    monkeypatch.setattr(checks, "STORM_HOME", tmp_path)
    return folder


def test_everything_there_is_found(programs: Path) -> None:
    """With all programs the lab's own are returned with their paths."""
    found = checks.check_programs()
    assert found.java == str(programs / "java")
    assert found.redis_server == str(programs / "redis-server")


def test_all_missing_programs_are_named_at_once(programs: Path) -> None:
    """All missing programs are named at once."""
    for name in ("java", "nsenter"):
        (programs / name).unlink()
    with pytest.raises(LabError, match="programs missing on PATH: java, nsenter "):
        checks.check_programs()


@pytest.mark.parametrize("answer", ['openjdk version "11.0.2"', 'java version "1.8.0_292"', "nonsense", ""])
def test_an_old_java_is_refused(programs: Path, answer: str) -> None:
    """Storm 2.8 needs Java 17; what was found is named."""
    program(programs, "java", f"echo '{answer}' >&2")
    with pytest.raises(LabError, match=f"Java 17 or newer; .*{answer or 'no version named'}"):
        checks.check_programs()


def test_a_storm_that_is_not_assembled_is_an_error_with_the_command(programs: Path) -> None:
    """RELEASE is written last, so its absence means an incomplete assembly."""
    (programs.parent / "RELEASE").unlink()
    with pytest.raises(LabError, match=r"mvn -q -f lab/storm/pom.xml package"):
        checks.check_programs()


@pytest.mark.parametrize(("scheduler", "needed"), [("stormplace", True), ("ras", True), ("even", False)])
def test_only_some_schedulers_need_the_shim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: checks.SchedulerName, needed: bool
) -> None:
    """The shim's jar is asked for by the schedulers whose classes are in it."""
    monkeypatch.setattr(checks, "SHIM_JAR", tmp_path / "absent.jar")
    if needed:
        with pytest.raises(LabError, match=r"absent\.jar"):
            checks.check_shim(scheduler)
    else:
        checks.check_shim(scheduler)


def test_the_shims_jar_is_replaced_and_never_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A JVM that has the old jar open keeps reading the old jar."""
    jar = tmp_path / "shim.jar"
    jar.write_bytes(b"new")
    for folder in ("extlib", "extlib-daemon"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "shim.jar").write_bytes(b"old")
    monkeypatch.setattr(checks, "SHIM_JAR", jar)
    monkeypatch.setattr(checks, "STORM_HOME", tmp_path)
    with (tmp_path / "extlib/shim.jar").open("rb") as held:
        checks.install_shim()
        assert held.read() == b"old"
    assert {path.name: path.read_bytes() for path in (tmp_path / "extlib").iterdir()} == {"shim.jar": b"new"}
    assert (tmp_path / "extlib-daemon/shim.jar").read_bytes() == b"new"


def test_a_full_disk_is_an_error_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the folder and both sizes."""
    monkeypatch.setattr(checks, "_TUN", Path(os.devnull))
    monkeypatch.setattr(checks.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda _: SimpleNamespace(free=5 << 20))
    with pytest.raises(LabError, match=f"{tmp_path} has 5 MiB left; a lab needs 1024 MiB"):
        checks.check_machine(tmp_path / "not/yet/there")


def test_without_namespaces_the_lab_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No root and no user namespaces is one clear sentence."""
    refused = SimpleNamespace(returncode=1, stderr="unshare: unshare failed: Operation not permitted")
    monkeypatch.setattr(checks, "_TUN", Path(os.devnull))
    monkeypatch.setattr(checks.subprocess, "run", lambda *_, **__: refused)
    with pytest.raises(
        LabError, match=r"needs root, or a kernel that permits user namespaces .*not permitted"
    ):
        checks.check_machine(tmp_path)


def test_without_tun_devices_the_lab_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without /dev/net/tun is an error before anything starts."""
    monkeypatch.setattr(checks, "_TUN", tmp_path / "tun")
    with pytest.raises(LabError, match="tun cannot be opened"):
        checks.check_machine(tmp_path)
