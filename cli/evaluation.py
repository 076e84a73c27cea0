"""The command `evaluate`: a topology, a lab, several strategies, verified answers, one report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.checkout import DATA, require_checkout
from cli.errors import UserError
from cli.extras import require_all_extras
from lab.places import PROJECT_ROOT

if TYPE_CHECKING:
    from experiments.evaluation.synthetic_evaluation import SyntheticEvaluation
    from experiments.evaluation.taxi_evaluation import TaxiEvaluation

WRONG_STATUS = 1
SITES = PROJECT_ROOT / "lab" / "sites" / "evaluation.toml"
TAXI = "taxi"
WARM_UP_S = 15.0

Topology = Annotated[
    str,
    typer.Option(
        help="taxi; or as for `synthetic submit` sequential, diamond, replicated, or an instance file."
    ),
]
Operators = Annotated[
    int | None,
    typer.Option(help="Operators of sequential, diamond or replicated (default 20).", show_default=False),
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Rows of any known format, or a trips table; by default those in the repository.",
        show_default=False,
    ),
]
Generate = Annotated[
    int | None,
    typer.Option(
        metavar="MINUTES", min=1, max=720, help="Make up so many minutes of rows.", show_default=False
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of made-up rows.", show_default="0")]
Query = Annotated[str | None, typer.Option(help="1, 2 or both.", show_default="both")]
Strategies = Annotated[
    str, typer.Option(help="Comma-separated: even, default, ras, stormplace, stormplace:STRATEGY.")
]
Sites = Annotated[Path, typer.Option(help="Site file of the emulated wide area.")]
Rate = Annotated[
    float | None,
    typer.Option(
        min=0.1,
        help="Rows per second of the last rows; the others go before, fast. Or a stream's tuples per second.",
        show_default="10",
    ),
]
PacedRows = Annotated[
    int | None,
    typer.Option(min=1, help="Rows (or tuples) at --rate; response times are theirs.", show_default="300"),
]
Speed = Annotated[
    float | None,
    typer.Option(
        min=0.01, help="Instead: all rows at so many times the trips' own speed.", show_default=False
    ),
]
Out = Annotated[Path, typer.Option(help="Where the folder of this evaluation goes.")]


def evaluate(
    topology: Topology = TAXI,
    operators: Operators = None,
    data: Data = None,
    generate: Generate = None,
    seed: Seed = None,
    query: Query = None,
    strategies: Strategies = "even,stormplace",
    sites: Sites = SITES,
    rate: Rate = None,
    paced_rows: PacedRows = None,
    speed: Speed = None,
    out: Out = Path("runs"),
) -> None:
    """Run a topology under several strategies on an emulated wide area; end with one HTML report.

    The taxi queries: takes rows in or makes them up, brings a lab up, replays the rows under each strategy,
    verifies every answer with Spark, analyses the runs and writes report.html into a folder of its own. A
    synthetic application makes its own tuples, and its own counts verify that none is lost. The lab is taken
    down at the end, also after an error or Ctrl-C.

    Exit status: 0 done, 1 a step failed or an answer is wrong, 2 bad input, 130 ended by Ctrl-C.
    """
    require_checkout("evaluate")
    require_all_extras()
    from cli.data.analyse import print_analysis  # noqa: PLC0415  # heavy imports only for this command
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415  # likewise
    from cli.progress import StepProgress  # noqa: PLC0415  # likewise
    from experiments.evaluation.compared import read_variants  # noqa: PLC0415  # likewise
    from experiments.evaluation.evaluation_run import run_evaluation  # noqa: PLC0415  # likewise

    with experiment_call():
        asked: TaxiEvaluation | SyntheticEvaluation
        if topology == TAXI:
            _refuse_given("applications, so it needs another --topology", operators=operators)
            asked = _taxi(data, generate, seed, query or "both", rate, paced_rows, speed)
        else:
            rows_alone = {"data": data, "generate": generate, "seed": seed, "query": query, "speed": speed}
            _refuse_given(f"the taxi queries, so --topology {topology} does not go with it", **rows_alone)
            asked = _synthetic(topology, operators, rate, paced_rows)
        variants = read_variants(strategies)
        if not sites.is_file():
            raise UserError(f"--sites: no such file: {sites}")
        command = shlex.join(["stormplace", *sys.argv[1:]])
        finished = run_evaluation(asked, variants, sites, out, StepProgress, command=command)
    print_analysis(finished.analysis)
    typer.echo(f"{finished.busy}\nreport: {finished.report}")
    if not finished.right:
        raise UserError(
            f"an answer differs from the expected one: see {finished.report}", status=WRONG_STATUS
        )


def _refuse_given(reason: str, **options: object) -> None:
    """Refuse options that have a value; the reason says what they are for."""
    for name, value in options.items():
        if value is not None:
            raise UserError(f"--{name}: it is for {reason}")


def _taxi(
    data: Path | None,
    minutes: int | None,
    seed: int | None,
    query: str,
    rate: float | None,
    paced_rows: int | None,
    speed: float | None,
) -> TaxiEvaluation:
    from experiments.evaluation.taxi_evaluation import TaxiEvaluation, read_feeding  # noqa: PLC0415  # likewise
    from experiments.topologies.taxi_query import QUERIES  # noqa: PLC0415  # likewise

    known = next((each for each in QUERIES if each == query), None)
    if known is None:
        raise UserError(f"--query: {query!r} is not one of {', '.join(QUERIES)}")
    if data is not None and minutes is not None:
        raise UserError("--generate: it makes rows up, so --data does not go with it")
    if seed is not None and minutes is None:
        raise UserError("--seed: it is for made-up rows, so it needs --generate")
    if data is not None and not data.exists():
        raise UserError(f"--data: no such file or folder: {data}")
    return TaxiEvaluation(data or DATA, minutes, seed or 0, known, read_feeding(rate, paced_rows, speed))


def _synthetic(
    topology: str, operators: int | None, rate: float | None, paced_rows: int | None
) -> SyntheticEvaluation:
    from cli.synthetic.synthetic_input import (  # noqa: PLC0415  # likewise
        APPLICATIONS,
        Asked,
        read_application,
        to_workload,
    )
    from experiments.evaluation.synthetic_evaluation import SyntheticEvaluation  # noqa: PLC0415  # likewise
    from topologies.synthetic.workload import component_ids  # noqa: PLC0415  # likewise

    file = None if topology in APPLICATIONS else Path(topology)
    if file is None:
        rate = 10.0 if rate is None else rate
        asked = Asked(topology, operators, rate, None, None)
        arguments = [f"--application={topology}", f"--rate={rate}"]
        if operators is not None:
            arguments.append(f"--operators={operators}")
    elif file.is_file():
        asked = Asked(None, operators, rate, None, None)
        arguments = [str(file.absolute())]
    else:
        raise UserError(
            f"--topology: {topology!r} is not one of {', '.join((TAXI, *APPLICATIONS))}, and no instance file"
        )
    tuples = paced_rows or 300
    application = read_application(file, asked)
    workload = to_workload(application, work="wait", tuples=tuples, warm_up_s=WARM_UP_S, scale_rate=1.0)
    name = component_ids([topology if file is None else file.stem])[0]
    return SyntheticEvaluation(name, workload, (*arguments, f"--tuples={tuples}"))
