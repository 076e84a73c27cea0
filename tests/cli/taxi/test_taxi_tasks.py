"""`taxi submit` reads queries, tasks and choices, or refuses them with one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cli.errors import UserError
from cli.taxi.taxi_tasks import queries_of, read_numbers, read_semantics

if TYPE_CHECKING:
    from collections.abc import Callable

ENDS = ("--nimbus", "127.0.0.1:1", "--redis", "127.0.0.1:1", "--run", "r", "--name", "t")


@pytest.fixture
def submitted(
    monkeypatch: pytest.MonkeyPatch, stormplace: Callable[..., tuple[int, str, str]]
) -> Callable[..., Any]:
    """Runs the command and returns what it would submit."""
    kept: list[Any] = []
    monkeypatch.setattr("topologies.submission.submit", lambda _, submission: kept.append(submission))

    def run(*arguments: str) -> Any:
        status, _, err = stormplace("taxi", "submit", *ENDS, *arguments)
        assert status == 0, err
        return kept[-1]

    return run


def test_tasks_queries_and_choices_arrive(submitted: Callable[..., Any]) -> None:
    """A number for all parallel components, and another for one; the single ones stay single."""
    submission = submitted(
        *("--query", "both", "--tasks", "2", "--tasks", "emptyTaxis=4", "--executors", "parser=1"),
        *("--semantics", "nulls=per-route", "--semantics", "q2-emit=values"),
    )
    assert submission.queries == ("1", "2")
    assert submission.tasks == {
        **dict.fromkeys(("parser", "filterByCoordinates", "computeRouteID", "countByWindow"), 2),
        **dict.fromkeys(("partialRank", "computeAreaID", "profitability"), 2),
        "emptyTaxis": 4,
    }
    assert submission.executors == {"parser": 1}
    assert (submission.semantics.nulls, submission.semantics.q2_emit) == ("per-route", "values")
    plain = submitted()
    assert (plain.queries, plain.tasks) == (("1",), {})


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["0"], "--tasks 0: it must be N or COMPONENT=N, N a whole number above 0"),
        (["parser"], "--tasks parser: it must be N"),
        (["=2"], "--tasks =2: it must be N"),
        (["2", "3"], "--tasks 3: it is given twice"),
        (["globalRank=2"], "no component 'globalRank' with several tasks; there are parser, filterBy"),
        (["emptyTaxis=2"], "no component 'emptyTaxis' with several tasks"),
    ],
)
@pytest.mark.parametrize("option", ["--tasks", "--executors"])
def test_bad_tasks_are_refused(option: str, texts: list[str], message: str) -> None:
    """Components of a query that is not asked for too."""
    with pytest.raises(UserError) as refused:
        read_numbers(option, texts, queries_of("1"))
    assert message.replace("--tasks", option) in str(refused.value)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["nulls"], "--semantics: nulls: expected KEY=VALUE"),
        (["nulls=per-cell", "nulls=per-cell"], "--semantics: nulls: given twice"),
        (["null=x"], "--semantics: null: no such setting; there are nulls, pickup, area-grid"),
        (["median=mean"], "--semantics: median: mean is none of exact, cents"),
    ],
)
def test_bad_choices_are_refused(texts: list[str], message: str) -> None:
    """The sentence names the setting and its values."""
    with pytest.raises(UserError) as refused:
        read_semantics(texts)
    assert message in str(refused.value)
