"""A search is held to its time: late children are killed, and whether the clock had a say is noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from bridge.children.job import ChildJob
from bridge.children.orders import OfThisProcess
from bridge.children.watched_deadline import Watch
from scheduler.contract.children import Spoken

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.deadline import Deadline
    from scheduler.contract.children import Argument, Children, Job, Message

_LOOK_EVERY_S = 0.05
# A child gets so much less time than there is, to bring its answer.
_RESERVED_SHARE = 0.05
_MOST_RESERVED_S = 0.5


class TimeLimit:
    """What a search may use: a deadline, and children that do not outlive it.

    Args:
        deadline: When the search has to end.
        children: What starts its children.

    Attributes:
        deadline: The same moment, under watch.
        children: The same children, each killed by the wait for it that goes beyond the moment.
    """

    def __init__(self, deadline: Deadline, children: Children) -> None:
        self._watch = Watch(deadline)
        self.deadline: Deadline = self._watch.deadline
        self.children: Children = _PunctualChildren(deadline, children, self._watch)

    @property
    def cut(self) -> bool:
        """Whether the clock, here or in a child, or the loss of a child may have changed what was found."""
        return self._watch.cut


class _PunctualChildren(OfThisProcess):
    """Children that get a little less time than there is, and none after it."""

    def __init__(self, end: Deadline, children: Children, watch: Watch) -> None:
        self._end = end
        self._children = children
        self._watch = watch

    def start(
        self,
        work: Callable[[Argument, Deadline, Callable[[Message], None]], None],
        argument: Argument,
        deadline: Deadline,
    ) -> Job[Message]:
        reserved = min(_RESERVED_SHARE * self._end.remaining(), _MOST_RESERVED_S)
        if not deadline.unlimited and deadline.remaining() > self._end.remaining() - reserved:
            deadline = deadline.within(self._end.remaining() - reserved)
        return _PunctualJob(self._end, self._children.start(work, argument, deadline), self._watch)


class _PunctualJob(Generic[Spoken]):
    """A job that never keeps its owner beyond the end."""

    def __init__(self, end: Deadline, job: Job[Any], watch: Watch) -> None:
        self._end = end
        self._job = job
        self._watch = watch
        self._stopped = False

    @property
    def ended(self) -> bool:
        return self._job.ended

    @property
    def failure(self) -> str | None:
        return self._note_failure(self._job.failure)

    def messages(self) -> list[Spoken]:
        self._note_failure(self._job.failure)
        return self._job.messages()

    def wait(self, seconds: float) -> bool:
        left = seconds
        # In short steps, as the end may come sooner than it seemed: a user's Ctrl-C is one.
        while left > 0 and not self._end.expired():
            step = min(left, _LOOK_EVERY_S)
            if self._job.wait(step):
                return True
            left -= step
        if self._end.expired() and not self._job.wait(0.0):
            self._watch.note()
            self.stop()
        return self._job.wait(0.0)

    def stop(self) -> None:
        self._note_failure(self._job.failure)
        self._stopped = True
        self._job.stop()

    def _note_failure(self, failure: str | None) -> str | None:
        cut = isinstance(self._job, ChildJob) and self._job.cut
        if cut or (failure is not None and not self._stopped):
            self._watch.note()
        return failure
