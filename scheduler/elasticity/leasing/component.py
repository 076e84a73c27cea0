"""What a policy knows of a component before it sees any reading."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.base.checks import ModelError, name, number, shown, whole_number


@dataclass(frozen=True)
class Component:
    """A component whose number of executors may change; the operator type o of paper 003.

    Attributes:
        name: Of the component.
        slo_ms: o_slo, longest mean time from entering the queue to the end of processing, ms (> 0).
        cpu: o_cpu, guaranteed CPU of one executor, in shares or any unit that hosts use as well (> 0).
        memory_mb: o_memory, guaranteed memory of one executor, MB (> 0).
        least: Executors that it never falls below (>= 1).
        most: Executors that it never exceeds; None: as many as there is room for.
        tasks: Among which executors are dealt (`useful`); None: as many as one likes.
        group: Components of one group stand still together while executors of any of them change: a topology.
        pause_s: For so long they do, s (>= 0).
    """

    name: str
    slo_ms: float
    cpu: float
    memory_mb: float
    least: int = 1
    most: int | None = None
    tasks: int | None = None
    group: str = ""
    pause_s: float = 0.0

    def __post_init__(self) -> None:
        name("name", self.name)
        number("slo_ms", self.slo_ms, above=0.0)
        number("cpu", self.cpu, above=0.0)
        number("memory_mb", self.memory_mb, above=0.0)
        number("pause_s", self.pause_s)
        whole_number("least", self.least, 1)
        if self.most is not None:
            whole_number("most", self.most, self.least)
        if self.tasks is not None:
            whole_number("tasks", self.tasks, self.least)
            if self.most is None or self.most > self.tasks:
                raise ModelError("most", f"expected at most the tasks ({self.tasks}), got {shown(self.most)}")
