"""Managers of paper 004 in the loop: each follows a load, killed anywhere, and keeps what it learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.codec import codec
from provisioning.loop.memory import MemoryFile
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from scheduler.elasticity.layers.one_pool.state import OnePoolState
from scheduler.elasticity.useful import effective, useful
from tests.provisioning.loop.layered import HOSTS, OPERATORS, QueueingWorld, layered
from tests.provisioning.loop.test_active import pass_rounds
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.loop.memory import Memory
    from provisioning.loop.report import Report
    from provisioning.settings import ElasticSettings

BOLT = f"{TOPOLOGY}/bolt"


def live(world: QueueingWorld) -> int:
    return sum(each.live for each in world.given.values())


def busy(world: QueueingWorld) -> float:
    can = effective(world.tasks, world.counts["bolt"]) * 1000.0 / world.service_ms
    return world.demand_per_s / can


def memory_of(folder: Path) -> Memory:
    return MemoryFile(folder / "active.json").read()


def state_of(folder: Path) -> OnePoolState:
    found: OnePoolState = codec(OnePoolState).validate_python(memory_of(folder).policy)
    return found


def follow(world: QueueingWorld, folder: Path, settings: ElasticSettings) -> list[Report]:
    """Pass minutes of little load, more of much, and twice as many of little."""
    reports = []
    for demand_per_s, rounds in ((8.0, 10), (45.0, 40), (8.0, 80)):
        world.demand_per_s = demand_per_s
        reports += pass_rounds(world, folder, rounds, settings)
    return reports


@pytest.mark.parametrize(
    ("operators", "hosts", "rounds"),
    [
        ("threshold", "idle-pool", 240),
        ("rolling", "idle-pool", 240),
        ("model-based", "idle-pool", 600),
        ("model-based", "model-based", 600),
    ],
)
def test_a_load_that_goes_up_and_down_is_followed(
    operators: str, hosts: str, rounds: int, tmp_path: Path
) -> None:
    """Executors and hosts come with the load, in numbers that make a difference, and go with it."""
    world, settings = QueueingWorld(demand_per_s=8.0), layered(operators, hosts)
    pass_rounds(world, tmp_path, 60, settings)
    world.demand_per_s = 45.0
    pass_rounds(world, tmp_path, 120, settings)
    peak, hosts_at_peak = world.counts["bolt"], live(world)
    assert busy(world) < 1.0
    assert useful(world.tasks, peak) == peak
    assert hosts_at_peak >= 1
    world.demand_per_s = 8.0
    pass_rounds(world, tmp_path, rounds, settings)
    assert world.counts["bolt"] < peak
    assert busy(world) < 1.0
    assert live(world) < hosts_at_peak
    memory = memory_of(tmp_path)
    assert not memory.wanted
    assert not memory.requests
    assert world.given.keys() == {f"{memory.instance}.lease-{n + 1}" for n in range(len(world.given))}


@pytest.mark.parametrize(
    ("operators", "kill_at"),
    [
        # every call of the loop is tried with `sized`; these are to find their tables again
        *(("model-based", call) for call in (1, 3, 5)),
        *(("rolling", call) for call in (2, 7, 10, 13)),
        *(("threshold", call) for call in (3, 10, 22, 33)),
    ],
)
def test_a_killed_loop_goes_on(operators: str, kill_at: int, tmp_path: Path) -> None:
    """No host is leaked or asked for twice, and the outcome is what it would have been."""
    calm, killed = QueueingWorld(), QueueingWorld(kill_at=kill_at)
    for name, world in (("calm", calm), ("killed", killed)):
        (tmp_path / name).mkdir()
        follow(world, tmp_path / name, layered(operators))
    assert killed.calls > kill_at
    assert killed.counts == calm.counts
    assert live(killed) == live(calm)
    assert not memory_of(tmp_path / "killed").wanted
    assert sum(each.last_task - each.first_task + 1 for each in killed.executors()) == killed.tasks + 1


@pytest.mark.parametrize("hosts", HOSTS)
@pytest.mark.parametrize("operators", OPERATORS)
def test_what_was_learned_is_kept_to_the_bit(operators: str, hosts: str, tmp_path: Path) -> None:
    follow(QueueingWorld(), tmp_path, layered(operators, hosts))
    memory = memory_of(tmp_path)
    assert codec(OnePoolState).dump_python(state_of(tmp_path), mode="json") == memory.policy
    state = state_of(tmp_path)
    assert state.bases[TOPOLOGY].parts[0].service_ms == pytest.approx(100.0)
    if operators == "model-based":
        model = getattr(state.layers.operators[BOLT], "model")  # noqa: B009 - of one manager only
        assert model.unknown.shape == (8, 20), "of 24 tasks eight numbers of executors make a difference"
        assert model.seen.sum() > 20
        assert not model.unknown.flags.writeable


def damaged(memory: Memory, what: str) -> Memory:
    """Return the memory of a model-based manager after something happened to its file."""
    policy: dict[str, Any] = dict(memory.policy)
    tables = policy["layers"]["operators"][BOLT]
    ((name, content),) = tables.items()
    unknown = content["model"]["unknown"]
    if what == "shape":
        unknown["shape"] = [4, 40]  # as many numbers
    elif what == "numbers":
        unknown["shape"] = [9, 20]
    elif what == "coding":
        content["model"]["unknown"] = {"shape": [8, 20], "f4": unknown["zlib-f8"]}
    elif what == "text":
        unknown["zlib-f8"] = "?"
    elif what == "manager":
        policy["layers"]["operators"][BOLT] = {"operator_manager.oracle.OracleState": content}
    else:
        policy["layers"]["operators"][BOLT] = {name: {**content, "until_s": "late"}}
    return replace(memory, policy=policy)


@pytest.mark.parametrize("what", ["shape", "numbers", "coding", "text", "manager", "value"])
def test_a_state_of_another_form_begins_anew(what: str, tmp_path: Path) -> None:
    world, settings = QueueingWorld(), layered("model-based")
    pass_rounds(world, tmp_path, 100, settings)
    assert state_of(tmp_path).layers.operators[BOLT] is not None
    file = MemoryFile(tmp_path / "active.json")
    file.write(damaged(file.read(), what))
    reports = pass_rounds(world, tmp_path, 12, settings)
    assert all(each.decision is not None or "under way" in each.held for each in reports)
    model = getattr(state_of(tmp_path).layers.operators[BOLT], "model")  # noqa: B009 - of one manager only
    assert model.unknown.shape == (8, 20)
    assert 0 < model.seen.sum() < 10


def test_another_number_of_tasks_is_learned_anew(tmp_path: Path) -> None:
    """Its rows are of other numbers of executors."""
    world, settings = QueueingWorld(), layered("model-based")
    pass_rounds(world, tmp_path, 60, settings)
    world.tasks = 12
    pass_rounds(world, tmp_path, 12, settings)
    model = getattr(state_of(tmp_path).layers.operators[BOLT], "model")  # noqa: B009 - of one manager only
    assert model.unknown.shape == (6, 20)


@pytest.mark.parametrize("operators", OPERATORS)
def test_managers_take_over_from_others(operators: str, tmp_path: Path) -> None:
    """What others have learned is none of theirs; hosts that were leased stay known."""
    world = QueueingWorld(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 60, layered("threshold" if operators == "rolling" else "rolling"))
    leased = dict(world.given)
    pass_rounds(world, tmp_path, 60, layered(operators))
    assert world.given.items() >= {key: world.given[key] for key in leased}.items()
    assert busy(world) < 1.0
    assert not memory_of(tmp_path).requests


def test_an_unknown_service_time_holds_and_is_said(tmp_path: Path) -> None:
    """Nothing is asked for, of hosts neither, until it is known."""
    world, settings = QueueingWorld(demand_per_s=45.0, timed=False), layered("rolling")
    reports = pass_rounds(world, tmp_path, 10, settings)
    assert not world.calls
    decision = reports[-1].decision
    assert decision is not None
    why = f"how long an item takes at {BOLT} is not known: state service_ms, or wait"
    assert (TOPOLOGY, "held", why) in [(each.about, each.verdict, each.why) for each in decision.reasons]
    assert any("it is not known how long an item takes at bolt" in each for each in reports[-1].faults)
    world.timed = True
    pass_rounds(world, tmp_path, 60, settings)
    assert busy(world) < 1.0


def test_weights_that_do_not_fit_the_tasks_are_named(tmp_path: Path) -> None:
    """How many tasks there are is known from the first look on."""
    world = QueueingWorld(tasks=200)
    (report,) = pass_rounds(world, tmp_path, 1, layered("model-based", operator={}))
    assert report.held == (
        "policy.parameters.operator.weights: reconfiguration 0.333333 has to be below 0.166667 (what one"
        " executor costs for ever), or none is ever given back (of words/bolt)"
    )
    assert not world.calls


def test_a_bound_below_what_items_take_is_named(tmp_path: Path) -> None:
    world = QueueingWorld()
    report = pass_rounds(world, tmp_path, 4, layered("rolling", response_max_ms={TOPOLOGY: 90.0}))[-1]
    assert report.held == (
        "policy.parameters.response_max_ms: expected more than 100, which items of words take where nothing"
        " waits, got 90"
    )


def test_samples_of_before_a_change_or_too_old_decide_nothing(tmp_path: Path) -> None:
    world, settings = QueueingWorld(), layered("rolling")
    pass_rounds(world, tmp_path, 60, settings)
    world.demand_per_s, world.spoken = 45.0, False
    before, calls = dict(world.counts), world.calls
    reports = pass_rounds(world, tmp_path, 20, settings)
    assert (world.counts, world.calls) == (before, calls)
    assert any(
        each.verdict == "held" and each.about in {BOLT, TOPOLOGY}
        for report in reports
        if report.decision is not None
        for each in report.decision.reasons
    )


def test_limits_are_kept(tmp_path: Path) -> None:
    """A budget of two hosts, and at most six executors."""
    settings = layered("rolling").model_copy(deep=True)
    table = settings.model_dump(exclude_unset=True)
    table["limits"] |= {"budget_per_hour": 12.0}
    table["topology"] = {TOPOLOGY: {"mode": "active", "component": {"bolt": {"max": 6}}}}
    world = QueueingWorld(demand_per_s=200.0)
    pass_rounds(world, tmp_path, 120, type(settings).model_validate(table))
    assert world.counts["bolt"] == 6
    assert live(world) == 2


@pytest.mark.parametrize("operators", OPERATORS)
def test_advice_scales_a_copy_only(operators: str, tmp_path: Path) -> None:
    world, settings = QueueingWorld(own_hosts=("own-1", "own-2")), layered(operators)
    file = MemoryFile(tmp_path / "advice.json")
    copied = []
    for demand_per_s, rounds in ((8.0, 40), (45.0, 80), (8.0, 300 if operators == "model-based" else 150)):
        world.demand_per_s = demand_per_s
        for _ in range(rounds):
            # as after each start of the process
            loop = AdvisingLoop(Pool(settings, OFFER, (TOPOLOGY,)), Seeing(settings, world, {}), file)
            report = loop.round(world.look(), world.now_s)
            assert not report.held
            world.now_s += ROUND_S
        copy = file.read().copy
        assert copy is not None
        copied.append(copy.executors()[BOLT])
    assert not world.calls
    assert copied[0] < copied[1]
    assert copied[2] < copied[1]
    assert copied[1] * 1000.0 / world.service_ms > 45.0
    assert report.savings is not None
    assert report.savings.late_share < 0.5


def test_a_break_of_an_advice_keeps_what_was_learned(tmp_path: Path) -> None:
    """The copy is made anew."""
    world, settings = QueueingWorld(), layered("model-based")
    file = MemoryFile(tmp_path / "advice.json")

    def learned_after(rounds: int) -> float:
        for _ in range(rounds):
            loop = AdvisingLoop(Pool(settings, OFFER, (TOPOLOGY,)), Seeing(settings, world, {}), file)
            loop.round(world.look(), world.now_s)
            world.now_s += ROUND_S
        state: Any = codec(OnePoolState).validate_python(file.read().policy)
        return float(state.layers.operators[BOLT].model.seen.sum())

    before = learned_after(60)
    world.now_s += 7200.0
    assert learned_after(4) > before
    copy = file.read().copy
    assert copy is not None
    assert copy.began_s == world.now_s - 4 * ROUND_S
