"""Commands that fail, hang, are killed or say strange things; names of hosts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.providers.program import ProgramKilledError, run_program
from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from provisioning.providers.provider import Lease

pytestmark = pytest.mark.programs
T = 1_000_000.0
UP = T + 60.0


@pytest.fixture
def world(make_world: Any) -> Any:
    return make_world("command")


def script(world: Any, when: str, text: str) -> None:
    (world.folder / "cloud" / when).write_text(text)


def only(world: Any, now_s: float, **changes: Any) -> Lease:
    (lease,) = world.made(**changes).leases(now_s)
    return lease


def test_a_start_that_fails_is_refused_with_status_and_last_line_and_leaves_nothing(world: Any) -> None:
    script(world, "before", "echo 'first words' >&2; echo 'no capacity in this zone' >&2; exit 3")
    with pytest.raises(
        ProviderError, match=r"^start: .*cloud\.sh ended with status 3: no capacity in this zone$"
    ):
        world.made().lease("small", "r-1", T)
    assert not world.made().leases(T)
    (world.folder / "cloud" / "before").unlink()
    assert world.made().lease("small", "r-1", T).status == "booting"


def test_after_an_unclear_status_the_same_start_is_run_again(world: Any) -> None:
    """A cloud's answer was lost, for one: the host may be there."""
    script(world, "after", "echo 'no answer' >&2; exit 255")
    made = world.made(unclear_statuses=[255])
    with pytest.raises(ProviderError, match=r"^start: .*cloud\.sh ended with status 255: no answer$"):
        made.lease("small", "r-1", T)
    assert world.running == 1
    script(world, "after", "")
    assert only(world, T).status == "ready"
    assert world.running == 1


def test_a_program_that_does_not_exist_is_named(world: Any) -> None:
    with pytest.raises(ProviderError, match=r"^start: /no/such cannot be run \(No such file or directory\)$"):
        world.made(start_command=["/no/such"]).lease("small", "r-1", T)


def test_a_command_that_hangs_is_killed_with_all_that_it_started(world: Any) -> None:
    """The lease stays, is started again, and the host that the first start may have left is the same."""
    fifo = world.folder / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    # a child of the command keeps the pipe open as long as it lives, and the command waits for it
    script(world, "after", f"echo 'I wait' >&2; sleep 600 >{fifo} & wait")
    with pytest.raises(ProviderError, match=r"did not end within 2 s and was killed: I wait$"):
        world.made(command_limit_s=2.0).lease("small", "r-1", T)
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""  # returns once no process has the other end
    os.close(reader)
    script(world, "after", "")
    assert only(world, T).status == "ready"
    assert world.running == 1


def test_what_a_command_leaves_running_keeps_nothing_waiting() -> None:
    """A start may leave a process behind that holds its output open."""
    printed = run_program("start", ["sh", "-c", "sleep 60 & echo $!"], 30.0)
    os.kill(int(printed), signal.SIGKILL)  # which fails if it does not run


def test_a_command_that_a_signal_ended_leaves_it_open_what_it_did() -> None:
    with pytest.raises(ProgramKilledError, match=r"^start: sh was ended by signal 15$"):
        run_program("start", ["sh", "-c", "kill $$"], 60.0)


def test_a_process_that_is_killed_while_its_start_command_runs_leaks_no_host(world: Any) -> None:
    """After a restart the lease is started again, with the same request, and is one host."""
    script(world, "after", "kill -9 $PPID")
    code = (
        "import sys; from pathlib import Path; "
        "from tests.provisioning.providers.conftest import World, tables; folder = Path(sys.argv[1]); "
        "World(folder, tables(folder)['command']).made().lease('small', 'r-1', 0.0)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(world.folder)], check=False, cwd=Path.cwd())
    assert done.returncode == -9
    assert world.running == 1
    script(world, "after", "")
    lease = only(world, 10.0)
    assert lease.request_id == "r-1"
    assert world.calls.count("start r-1 spot-1") == 2


def test_a_start_that_fails_after_one_that_was_killed_proves_nothing(world: Any) -> None:
    """The first one may have come through, so the lease is kept, and its host is found in the end."""
    script(world, "after", "exec kill -9 $$")
    with pytest.raises(ProviderError, match="signal 9"):
        world.made().lease("small", "r-1", T)
    script(world, "before", "echo 'exists already' >&2; exit 1")
    with pytest.raises(ProviderError, match="exists already"):
        world.made().lease("small", "r-1", T)
    lease = only(world, T)
    assert (lease.status, lease.reason.rpartition(": ")[2]) == ("booting", "exists already")
    assert only(world, T + 301.0).status == "failed"
    assert world.running == 0


def test_a_lease_that_is_given_back_before_its_start_came_through_is_stopped(world: Any) -> None:
    """A stop that needs what only the start tells asks the start again."""
    stop = [*world.provider["stop_command"][:3], "{instance}"]
    script(world, "after", "exec kill -9 $$")
    with pytest.raises(ProviderError, match="signal 9"):
        world.made().lease("small", "r-1", T)
    script(world, "after", "")
    world.made(stop_command=stop).release("lease-1", T, T)
    assert world.calls[-2:] == ["start r-1 spot-1", "stop i-r-1 "]


def test_a_stop_that_fails_is_tried_again_by_each_look(world: Any) -> None:
    world.made().lease("small", "r-1", T)
    world.made().leases(UP)
    script(world, "before-stop", "echo 'try later' >&2; exit 1")
    with pytest.raises(ProviderError, match="try later"):
        world.made().release("lease-1", UP, UP)
    lease = only(world, UP + 1.0)
    assert (lease.status, lease.live) == ("draining", True)
    assert lease.reason.endswith("status 1: try later")
    (world.folder / "cloud" / "before-stop").unlink()
    assert (only(world, UP + 700.0).status, only(world, UP + 9000.0).cost) == ("gone", 4.0)


def test_a_list_that_cannot_be_had_is_an_error_and_what_is_due_is_done(world: Any) -> None:
    provider = world.made()
    provider.release(provider.lease("small", "r-1", T).lease_id, T + 100.0, T)
    provider.lease("small", "r-2", T)
    with pytest.raises(ProviderError, match=r"^list: false ended with status 1$"):
        world.made(list_command=["false"]).leases(T + 100.0)
    assert world.running == 1


def test_a_status_command_says_how_one_host_stands(world: Any) -> None:
    shell = world.provider["list_command"][:2]
    changes = {"list_command": [], "status_command": [*shell, "status", "{request}", "{instance}"]}
    world.become("pending")
    world.made(**changes).lease("small", "r-1", T)
    assert only(world, T + 1.0, **changes).status == "booting"
    world.become("running ip-10-0-0-7.internal")
    lease = only(world, T + 2.0, **changes)
    assert (lease.status, lease.host, lease.ready_at_s) == ("ready", "ip-10-0-0-7.internal", T + 2.0)
    assert world.calls[-1] == "status r-1 i-r-1"


def test_a_host_of_which_nothing_is_known_does_not_hide_the_others(world: Any) -> None:
    shell = ["sh", "-c", 'case $1 in r-1) echo "not known" >&2; exit 1;; *) echo ready;; esac', "status"]
    changes = {"list_command": [], "status_command": [*shell, "{request}"]}
    for request in ("r-1", "r-2"):
        world.made(**changes).lease("small", request, T)
    first, second = world.made(**changes).leases(T)
    assert (first.status, first.reason) == ("booting", "status: sh ended with status 1: not known")
    assert (second.status, second.reason) == ("ready", "")


def test_without_a_word_of_commands_a_host_is_up_after_its_usual_time(world: Any) -> None:
    world.made(list_command=[]).lease("small", "r-1", T)
    assert only(world, T + 59.0, list_command=[]).status == "booting"
    lease = only(world, T + 100.0, list_command=[])
    assert (lease.status, lease.ready_at_s) == ("ready", T + 60.0)


def test_a_host_that_is_taken_away_is_gone_and_was_paid(world: Any) -> None:
    world.made().lease("small", "r-1", T)
    world.made().leases(UP)
    world.become("terminated")
    lease = only(world, UP + 100.0)
    assert (lease.status, lease.cost) == ("gone", 2.0)
    assert lease.reason == "the provider took it away: it is terminated"


@pytest.mark.parametrize(
    ("printed", "doubt"),
    [
        ("r-1 ready None", "the provider says that it is up, and does not name its host"),
        ("r-1 ready ../up", "the provider names its host '../up', which is no name of one"),
        ("r-1 boots here\nr-2 ready here", "the provider names its host 'here', which is that of lease-1"),
    ],
)
def test_what_cannot_be_is_not_believed(world: Any, printed: str, doubt: str) -> None:
    """The lease goes on to boot, and says why."""
    changes = {"host_pattern": "", "list_command": ["echo", printed]}
    start = [each for each in world.provider["start_command"] if each != "{host}"]
    for request in ("r-1", "r-2"):
        world.made(start_command=start, **changes).lease("small", request, T)
    leases = world.made(start_command=start, **changes).leases(UP)
    assert {each.status for each in leases} == {"booting"}
    assert doubt in {each.reason for each in leases}


def test_a_host_that_is_up_keeps_its_name(world: Any) -> None:
    world.made().lease("small", "r-1", T)
    world.made().leases(UP)
    lease = only(world, UP, list_command=["echo", "r-1 ready other"])
    assert (lease.host, lease.reason) == ("spot-1", "the provider now names its host 'other'")


def test_fresh_names_are_not_used_again(world: Any) -> None:
    provider = world.made()
    for number in (1, 2, 3):
        lease = provider.lease("small", f"r-{number}", T)
        assert lease.host == f"spot-{number}"
        provider.release(lease.lease_id, T, T)


def test_a_name_of_a_pool_rests_after_its_host_was_given_back(world: Any) -> None:
    """The one that has rested longest comes first, and a name of a host that is leased never."""
    changes = {"host_pattern": "", "hosts": ["a", "b"], "name_rest_s": 1000.0}
    for request, host in (("r-1", "a"), ("r-2", "b")):
        assert world.made(**changes).lease("small", request, T).host == host
    with pytest.raises(ProviderError, match=r"^no name of a host is free: all 2 are leased"):
        world.made(**changes).lease("small", "r-3", T)
    world.made(**changes).release("lease-2", T, T + 1.0)
    world.made(**changes).release("lease-1", T, T + 2.0)
    with pytest.raises(ProviderError, match="or were less than 1000 s ago"):
        world.made(**changes).lease("small", "r-3", T + 1000.0)
    assert world.made(**changes).lease("small", "r-3", T + 1002.0).host == "b"
    assert world.made(**changes).lease("small", "r-4", T + 1002.0).host == "a"


def test_values_are_never_read_by_a_shell(world: Any) -> None:
    """An argument stays one, and other braces are left alone."""
    start = [*world.provider["start_command"][:4], "{host}; rm -rf $HOME {Key=Name}"]
    world.made(start_command=start).lease("small", "r-1", T)
    assert world.calls[-1] == "start r-1 spot-1; rm -rf $HOME {Key=Name}"
