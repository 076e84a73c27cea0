"""What comes to a source, by what it has said."""

from __future__ import annotations

import pytest

from provisioning.measuring.lag import AtSource
from provisioning.measuring.source_history import Since, SourceSaid, came_per_s, growth_per_s, jump, with_said


def said(*waiting: float, every_s: float = 5.0) -> tuple[SourceSaid, ...]:
    return tuple(SourceSaid(100.0 + every_s * k, each) for k, each in enumerate(waiting))


def test_growth_is_that_of_the_time_in_which_spouts_were_counted() -> None:
    """First 500 items piled up, then spouts worked them off."""
    history = said(0.0, 500.0, 400.0, 300.0, 200.0)
    assert growth_per_s(history, (100.0, 120.0), 0.0) == pytest.approx(10.0)
    assert growth_per_s(history, (105.0, 120.0), 0.0) == pytest.approx(-20.0)
    assert growth_per_s(history, (107.5, 117.5), 0.0) == pytest.approx(-20.0), "in between it is even"
    assert growth_per_s(history, (100.0, 120.0), 103.0) == pytest.approx(-20.0), "nothing from before it"


@pytest.mark.parametrize(
    ("begin_s", "end_s", "since_s"), [(100.0, 120.0, 116.0), (118.0, 130.0, 0.0), (130.0, 140.0, 0.0)]
)
def test_what_was_said_too_little_of_is_not_known(begin_s: float, end_s: float, since_s: float) -> None:
    """Of one answer, or of less than a third of the time."""
    assert growth_per_s(said(0.0, 1.0, 2.0, 3.0, 4.0), (begin_s, end_s), since_s) is None


def test_what_came_is_counted_over_the_last_seconds() -> None:
    history = tuple(SourceSaid(100.0 + k, 0.0, 7.0 * k) for k in range(10))
    assert came_per_s(history, 0.0) == pytest.approx(7.0)
    assert came_per_s(history, 109.0) is None
    jump = tuple(
        SourceSaid(100.0 + 5 * k, 0.0, each) for k, each in enumerate((0, 5, 10, 110, 210, 310, 410))
    )
    assert came_per_s(jump, 0.0) == pytest.approx(20.0)
    seldom = (SourceSaid(100.0, 0.0, 0.0), SourceSaid(130.0, 0.0, 3.0), SourceSaid(160.0, 0.0, 33.0))
    assert came_per_s(seldom, 0.0) == pytest.approx(1.0), "between the last two"


def test_where_what_comes_has_stepped_up_only_that_counts() -> None:
    """Once two answers say so: a batch may come between one and the next."""

    def after(*came: float) -> float | None:
        answers = [sum(came[:k]) for k in range(len(came) + 1)]
        return came_per_s(
            tuple(SourceSaid(100.0 + 5.0 * k, 0.0, each) for k, each in enumerate(answers)), 0.0
        )

    assert after(50, 50, 50, 190) == pytest.approx(17.0)
    assert after(50, 50, 190, 190) == pytest.approx(38.0)
    assert after(50, 50, 80, 80) == pytest.approx(13.0), "not by so much"
    assert after(0, 400, 0, 400) == pytest.approx(40.0)
    assert after(1, 1, 9, 9) == pytest.approx(1.0), "not so few"
    assert after(190, 190, 50, 50) == pytest.approx(24.0), "what is less may be a lull"


def test_what_waits_as_more_comes_than_is_worked_off_is_no_jump() -> None:
    """If what came is counted, and is no jump."""
    history = tuple(SourceSaid(100.0 + 5.0 * k, 0.0, 60.0 * k) for k in range(3))
    assert jump((*history, SourceSaid(115.0, 105.0, 300.0)), Since()) == 0.0
    assert jump((*history, SourceSaid(115.0, 900.0, 300.0)), Since()) == 900.0


def test_a_source_that_was_made_anew_counts_from_there() -> None:
    history = tuple(SourceSaid(100.0 + k, 0.0, each) for k, each in enumerate((900.0, 950.0, 0.0, 7.0, 14.0)))
    assert came_per_s(history, 0.0) == pytest.approx(7.0)


def test_a_minute_is_kept_and_nothing_of_a_later_time() -> None:
    history: tuple[SourceSaid, ...] = ()
    for k in range(20):
        history, _ = with_said(history, AtSource(float(k)), 100.0 + 5.0 * k, Since())
    assert [each.at_s for each in history] == [135.0 + 5.0 * k for k in range(13)]
    assert with_said(history, AtSource(3.0), 120.0, Since()) == ((SourceSaid(120.0, 3.0),), False)


def counted(*arrived: float) -> tuple[SourceSaid, ...]:
    return tuple(SourceSaid(100.0 + 15.0 * k, 0.0, each) for k, each in enumerate(arrived))


@pytest.mark.parametrize(
    ("history", "items"),
    [
        (counted(0, 300, 600, 3700), 3100.0),  # ten times as much as between any two answers before
        (counted(0, 300, 600, 3600), 0.0),
        (counted(0, 0, 0, 99), 0.0),
        (counted(0, 0, 0, 100), 100.0),
        (counted(0, 300, 90_000), 0.0),  # what is usual is not known
        (counted(600, 300, 0, 90_000), 90_000.0),
        (said(0.0, 5.0, 10.0, 900.0), 890.0),  # where a source counts nothing else, and where it does,
        (tuple(SourceSaid(100.0 + k, 900.0 * (k > 2), 7.0 * k) for k in range(4)), 900.0),  # what waits may
    ],
)
def test_an_answer_far_above_what_is_usual_is_to_be_confirmed(
    history: tuple[SourceSaid, ...], items: float
) -> None:
    assert jump(history, Since()) == items
    assert jump(history, Since(arrived_s=100.5)) == 0.0, "of what was said since there is too little"


def test_what_waits_while_workers_start_is_no_jump() -> None:
    assert jump(said(0.0, 5.0, 10.0, 900.0), Since(waiting_s=101.0)) == 0.0
    assert jump(counted(0, 300, 600, 90_000), Since(waiting_s=101.0)) > 0.0


def test_a_jump_that_is_taken_back_is_forgotten() -> None:
    history = counted(0, 300, 600, 1e9)
    after, confirmed = with_said(history, AtSource(0.0, 1200.0), 160.0, Since())
    assert (after, confirmed) == ((*history[:3], SourceSaid(160.0, 0.0, 1200.0)), False)
    assert came_per_s(after, 0.0) == pytest.approx(20.0)


def test_a_jump_that_is_confirmed_says_nothing_of_what_comes() -> None:
    history = counted(0, 300, 600, 1e9)
    after, confirmed = with_said(history, AtSource(0.0, 1e9 + 300.0), 160.0, Since())
    assert confirmed
    assert came_per_s(after, 0.0) == pytest.approx(20.0)
    usual, confirmed = with_said(counted(0, 300, 600, 900), AtSource(0.0, 1200.0), 160.0, Since())
    assert (len(usual), confirmed) == (5, False)
