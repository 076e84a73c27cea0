from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab import cluster
from lab.anchor import take_lock
from lab.cluster import LabClient
from lab.errors import LabError, NoLabError
from lab.status import LabStatus, ServiceStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def _any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """These rules hold whatever the machine permits."""
    for check in ("check_programs", "check_shim", "check_machine"):
        monkeypatch.setattr(cluster, check, lambda *_: None)


def test_no_lab_is_a_state_and_down_is_repeatable(tmp_path: Path) -> None:
    """Without a lab its state is `absent`, and taking it down says that nothing was running."""
    client = LabClient(tmp_path / "lab")
    assert client.status() == LabStatus("absent")
    assert client.down() is False
    assert client.down() is False


@pytest.mark.parametrize(
    "ask",
    [
        lambda lab: lab.set_delay("a", "b", 1.0),
        lambda lab: lab.isolate("a"),
        lambda lab: lab.rejoin("a"),
        lambda lab: lab.use_scheduler("even"),
        lambda lab: lab.stop_daemon(),
        lambda lab: lab.start_daemon(),
        lambda lab: lab.exec("nimbus", ["true"]),
    ],
)
def test_without_a_lab_a_request_is_refused(tmp_path: Path, ask: Callable[[LabClient], object]) -> None:
    """Every request says that there is no lab and how to get one."""
    with pytest.raises(
        NoLabError, match=rf"no lab is running in .*`stormplace lab up --dir {tmp_path}` starts one"
    ):
        ask(LabClient(tmp_path))


def test_why_a_lab_has_ended_is_what_its_keeper_logged_last(tmp_path: Path) -> None:
    """A wait for it to be ready ends with the same error."""
    client = LabClient(tmp_path)
    assert client.keepers_last_words().startswith("nothing was logged (see ")
    client.folder.logs.mkdir()
    log = client.folder.logs / "keeper.log"
    log.write_text("keeper: up\nkeeper: no room left\n\n", encoding="utf-8")
    assert client.keepers_last_words() == f"keeper: no room left (see {log})"
    with pytest.raises(NoLabError, match=rf"^the lab has ended: keeper: no room left \(see {log}\)$"):
        client.await_ready(0.0)


def test_the_usual_folder_needs_no_option() -> None:
    """`--dir` is named where a command without it would mean another lab."""
    with pytest.raises(LabError, match="`stormplace lab up` starts one"):
        raise LabClient()._absence()


def test_a_folder_with_other_things_is_never_cleared(tmp_path: Path, two_sites: Path) -> None:
    """A state folder is emptied at each start, so a strange folder is refused and left as it is."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/mine").touch()
    with pytest.raises(LabError, match="is not empty and no lab's folder"):
        LabClient(tmp_path).up(two_sites, "even")
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["logs", "logs/mine"]


def test_a_second_lab_in_one_folder_is_refused(tmp_path: Path, two_sites: Path) -> None:
    """As long as a process holds the lock, nothing in the folder is touched."""
    client = LabClient(tmp_path)
    client.folder.marker.touch()
    client.folder.logs.mkdir()
    lock = take_lock(client.folder)
    assert lock is not None
    with pytest.raises(
        LabError, match=rf"already running in .*`stormplace lab down --dir {tmp_path}` ends it"
    ):
        client.up(two_sites, "even")
    assert client.folder.logs.exists()


def test_what_a_killed_lab_left_is_removed(tmp_path: Path) -> None:
    """Without a holder of the lock, socket and state file are stale; logs stay for the reader."""
    client = LabClient(tmp_path)
    for path in (client.folder.lock, client.folder.socket):
        path.touch()
    client.folder.state.write_text('{"pid": 1, "started": "long ago"}', encoding="utf-8")
    client.folder.logs.mkdir()
    assert client.down() is False
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "logs"]


@pytest.mark.parametrize("delay_ms", [-1.0, float("nan"), 60_001.0, float("inf")])
def test_an_impossible_delay_is_refused(tmp_path: Path, delay_ms: float) -> None:
    """Delays are numbers from 0 to a minute."""
    with pytest.raises(LabError, match="a delay is a number from 0 to 60000 ms"):
        LabClient(tmp_path).set_delay("a", "b", delay_ms)


def test_a_start_waits_for_a_keeper_too_busy_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence is an error only when the time for the start is over."""
    answers: list[LabStatus | LabError] = [LabError("no answer"), LabStatus("ready")]

    def status(_client: LabClient) -> LabStatus:
        answer = answers.pop(0)
        if isinstance(answer, LabError):
            raise answer
        return answer

    monkeypatch.setattr(LabClient, "status", status)
    assert LabClient(tmp_path).await_ready(60.0, None).state == "ready"
    answers.append(LabError("no answer"))
    with pytest.raises(LabError, match="no answer"):
        LabClient(tmp_path).await_ready(-1.0, None)


@pytest.mark.parametrize(("ends", "keeps_running"), [((9, 9, 12), True), ((9, 10, 13), False)])
def test_a_change_counts_only_the_ends_that_it_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: tuple[int, ...], *, keeps_running: bool
) -> None:
    """Four ends during a start or a change are too many; those before it, as of an isolated host, are not."""
    services = [ServiceStatus("supervisor-a-1", "a-1", "waiting", None, count, "") for count in ends]
    answers = [*(LabStatus("degraded", services=(one,)) for one in services), LabStatus("ready")]
    monkeypatch.setattr(LabClient, "status", lambda _: answers.pop(0))
    monkeypatch.setattr(cluster, "_POLL_S", 0.0)
    client = LabClient(tmp_path)
    if keeps_running:
        assert client.await_ready(60.0, None).state == "ready"
    else:
        with pytest.raises(LabError, match="supervisor-a-1 does not keep running"):
            client.await_ready(60.0, None)
