"""Work for child processes; a module of its own, because a child finds its work by name."""

from __future__ import annotations

import os
import time


def echo(argument, deadline, say):
    say(argument)
    say((deadline.unlimited, deadline.remaining()))


def fail(_argument, _deadline, say):
    say("before")
    raise ValueError("no such thing")


def stubborn(_argument, _deadline, say):
    say(os.getpid())
    while True:
        time.sleep(3600)


def vanish(_argument, _deadline, _say):
    os._exit(1)


def noisy(_argument, _deadline, say):
    os.write(1, b"noise")
    os.write(2, b"noise")
    say("quiet")


def delegate(children, deadline, say):
    job = children.start(stubborn, 0, deadline)
    job.wait(60.0)
    say(job.messages()[0])
    while True:
        time.sleep(3600)


def hurry(_argument, deadline, say):
    say(deadline.expired())
