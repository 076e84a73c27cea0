"""Real child processes: they answer, fail, are killed, and never outlive their owner."""

from __future__ import annotations

import importlib
import os
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.children.processes import ChildProcesses
from bridge.children.time_limit import TimeLimit
from scheduler.base.deadline import Deadline

HERE = Path(__file__).parent
NEVER = Deadline.none()
LONG_S = 60.0


@pytest.fixture
def work(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    return importlib.import_module("child_work")


@pytest.fixture
def children():
    with ChildProcesses(preload=()) as children:
        yield children


def ending(pid):
    """A file descriptor that can be read once the process has ended."""
    return os.pidfd_open(pid)


def ends(descriptor):
    ready, _, _ = select.select([descriptor], [], [], LONG_S)
    os.close(descriptor)
    return bool(ready)


def finished(job):
    """What the job says up to its end."""
    said = []
    while not job.ended:
        assert job.wait(LONG_S)
        said += job.messages()
    return said + job.messages()


def spoken(job):
    assert job.wait(LONG_S)
    return job.messages()


def test_a_child_gets_its_argument_and_its_answer_comes(children, work):
    """Messages come in order, and a good end has no failure."""
    job = children.start(work.echo, {"nodes": [1, 2]}, NEVER)
    assert finished(job) == [{"nodes": [1, 2]}, (True, float("inf"))]
    assert (job.ended, job.failure, job.messages()) == (True, None, [])


def test_a_childs_deadline_is_what_is_left_of_its_owners(children, work):
    """Whatever clock the owner counts on."""
    _, (unlimited, remaining) = finished(children.start(work.echo, 0, Deadline(lambda: 100.0, 130.0)))
    assert not unlimited
    assert 0.0 < remaining <= 30.0


@pytest.mark.parametrize("left_s", [0.0, 3600.0])
def test_a_child_tells_whether_its_clock_had_a_say(children, work, left_s):
    """Its owner's record says so then."""
    limit = TimeLimit(NEVER, children)
    job = limit.children.start(work.hurry, 0, Deadline(lambda: 0.0, left_s))
    assert finished(job) == [left_s == 0.0]
    assert limit.cut is (left_s == 0.0)


def test_an_exception_in_a_child_is_a_failure_with_its_place(children, work):
    """Nothing is raised here, and what was said before counts."""
    job = children.start(work.fail, 0, NEVER)
    assert finished(job) == ["before"]
    assert job.failure == "ValueError: no such thing (child_work.py, line 16)"


def test_stopping_kills_whatever_the_child_does(children, work):
    """At once, and twice harmlessly."""
    job = children.start(work.stubborn, 0, NEVER)
    gone = ending(spoken(job)[0])
    job.stop()
    job.stop()
    assert (job.ended, job.failure) == (True, "it was stopped")
    assert ends(gone)


def test_what_a_child_said_before_it_was_stopped_is_kept(children, work):
    """A solver's last placement still counts."""
    job = children.start(work.stubborn, 0, NEVER)
    assert job.wait(LONG_S)
    job.stop()
    assert len(job.messages()) == 1


def test_waiting_is_bounded(children, work):
    """A child that has nothing to say does not keep its owner."""
    job = children.start(work.stubborn, 0, NEVER)
    spoken(job)
    assert not job.wait(0.0)
    assert not job.ended


@pytest.mark.parametrize("kill", [True, False])
def test_a_child_that_is_killed_from_outside_is_a_failure(children, work, kill):
    """As by a kernel that is short of memory, or by a crash."""
    job = children.start(work.stubborn if kill else work.vanish, 0, NEVER)
    if kill:
        os.kill(spoken(job)[0], signal.SIGKILL)
    assert finished(job) == []
    assert job.failure == "its process was killed"


def test_children_work_side_by_side_and_one_end_leaves_the_others(children, work):
    """Stopping the first one is nothing to the second."""
    first, second = (children.start(work.stubborn, 0, NEVER) for _ in range(2))
    spoken(first)
    (pid,) = spoken(second)
    first.stop()
    assert finished(children.start(work.echo, 7, NEVER))[0] == 7
    assert not second.ended
    os.kill(pid, 0)


def test_a_child_may_have_children_which_end_with_it(children, work):
    """What started it, as a part of its argument, starts them."""
    job = children.start(work.delegate, children, NEVER)
    gone = ending(spoken(job)[0])
    job.stop()
    assert ends(gone)


def test_work_that_cannot_be_loaded_is_a_failure(children, work, monkeypatch):
    """The child does not know the module."""
    monkeypatch.setattr(work.echo, "__module__", "child_work_2")
    monkeypatch.setitem(sys.modules, "child_work_2", work)
    job = children.start(work.echo, 0, NEVER)
    assert finished(job) == []
    assert job.failure.startswith("ModuleNotFoundError: No module named 'child_work_2'")


def test_what_a_child_prints_is_dropped():
    """The owner's standard output may be one JSON object."""
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import child_work as work\n"
        "from bridge.children.processes import ChildProcesses; from scheduler.base.deadline import Deadline\n"
        "with ChildProcesses(preload=()) as children:\n"
        "    job = children.start(work.noisy, 0, Deadline.none())\n"
        "    job.wait(60.0); print(job.messages())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("['quiet']\n", "")


def test_closing_ends_all_children_and_what_started_them(work):
    """And a later start begins anew."""
    with ChildProcesses(preload=()) as children:
        job = children.start(work.stubborn, 0, NEVER)
        (pid,) = spoken(job)
        server = os.getsid(pid)
        gone = [ending(pid), ending(server)]
    assert all(ends(each) for each in gone)
    assert job.wait(LONG_S)
    assert job.failure == "its process was killed"
    assert server != os.getsid(0)
    with children:
        assert finished(children.start(work.echo, 7, NEVER))[0] == 7


def test_children_end_with_an_owner_that_is_killed():
    """No handler of the owner runs then."""
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import child_work as work\n"
        "from bridge.children.processes import ChildProcesses; from scheduler.base.deadline import Deadline\n"
        "job = ChildProcesses(preload=()).start(work.stubborn, 0, Deadline.none())\n"
        "job.wait(60.0); print(job.messages()[0], flush=True); input()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    gone = ending(int(owner.stdout.readline()))
    owner.kill()
    owner.communicate()
    assert ends(gone)


def test_children_end_with_what_started_them_and_the_next_start_begins_anew(children, work):
    """The server may be the one that the kernel kills."""
    job = children.start(work.stubborn, 0, NEVER)
    (pid,) = spoken(job)
    gone = ending(pid)
    os.kill(os.getsid(pid), signal.SIGKILL)
    assert ends(gone)
    assert finished(job) == []
    assert job.failure == "its process was killed"
    assert finished(children.start(work.echo, 7, NEVER))[0] == 7


def test_where_no_process_can_be_had_the_job_has_failed(work, monkeypatch):
    """The strategy goes on without it."""

    def refused(*_, **__):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with ChildProcesses(preload=()) as children:
        job = children.start(work.echo, 0, NEVER)
        assert (job.ended, job.messages(), job.wait(LONG_S)) == (True, [], True)
        assert job.failure == "no process could be started (Resource temporarily unavailable)"
        job.stop()


def test_where_no_process_can_be_had_nothing_is_warmed_up(work, monkeypatch):
    """And nothing fails for it: the first child tries again."""

    def refused(*_, **__):
        raise OSError(11, "Resource temporarily unavailable")

    with ChildProcesses(preload=()) as children:
        with monkeypatch.context() as short:
            short.setattr(subprocess, "Popen", refused)
            children.warm_up()
        assert finished(children.start(work.echo, 7, NEVER))[0] == 7


def test_where_file_descriptors_are_short_jobs_fail_and_the_others_go_on(children, work):
    """However few are left: what starts the children survives it, and so do they."""
    first = children.start(work.stubborn, 0, NEVER)
    server = os.getsid(spoken(first)[0])
    limits = resource.prlimit(server, resource.RLIMIT_NOFILE)
    fails = []
    for most in range(1, len(list(Path(f"/proc/{server}/fd").iterdir())) + 4):
        resource.prlimit(server, resource.RLIMIT_NOFILE, (most, limits[1]))
        job = children.start(work.echo, 7, NEVER)
        finished(job)
        fails.append(job.failure is not None)
    resource.prlimit(server, resource.RLIMIT_NOFILE, limits)
    assert fails[0]
    assert finished(children.start(work.echo, 7, NEVER))[0] == 7
    assert not first.ended


def test_a_server_that_hangs_keeps_no_caller(children, work):
    """Orders for which it has no room fail."""
    server = os.getsid(spoken(children.start(work.stubborn, 0, NEVER))[0])
    os.kill(server, signal.SIGSTOP)
    failures = (children.start(work.echo, 7, NEVER).failure for _ in range(10_000))
    assert next(filter(None, failures)).startswith("no process could be started (")
