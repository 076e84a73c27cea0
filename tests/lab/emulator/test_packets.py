from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lab.emulator.packets import PacketQueue

journeys = st.lists(st.tuples(st.floats(0.0, 10.0), st.integers(0, 2), st.integers(0, 2)), max_size=40)


@given(journeys)
def test_packets_of_a_pair_keep_their_order(sent: list[tuple[float, int, int]]) -> None:
    """Whatever the delays, a pair's packets arrive in the order in which they were sent, and none is lost."""
    queue = PacketQueue(limit_bytes=1 << 20)
    for number, (due_s, source, target) in enumerate(sent):
        assert queue.push(due_s, source, target, bytes([source, number]))
    arrived = list(queue.pop_due(float("inf")))
    assert sorted(packet[1] for _, packet in arrived) == list(range(len(sent)))
    for source in range(3):
        for target in range(3):
            numbers = [packet[1] for to, packet in arrived if to == target and packet[0] == source]
            assert numbers == sorted(numbers)


@given(journeys, st.floats(0.0, 10.0))
def test_nothing_arrives_early(sent: list[tuple[float, int, int]], now_s: float) -> None:
    """At any moment only packets that are due have arrived, and the next one is later."""
    queue = PacketQueue(limit_bytes=1 << 20)
    for due_s, source, target in sent:
        queue.push(due_s, source, target, repr(due_s).encode())
    assert all(float(packet) <= now_s for _, packet in queue.pop_due(now_s))
    next_due_s = queue.next_due_s()
    assert next_due_s is None or next_due_s > now_s


def test_a_full_queue_drops_and_takes_again_what_fits() -> None:
    """The limit is on bytes under way; delivered packets make room."""
    queue = PacketQueue(limit_bytes=10)
    assert queue.push(1.0, 0, 1, b"123456")
    assert not queue.push(1.0, 0, 1, b"12345")
    assert queue.push(1.0, 0, 1, b"1234")
    assert len(list(queue.pop_due(1.0))) == 2
    assert queue.push(2.0, 0, 1, b"1234567890")
    assert len(queue) == 1
