"""The command `evaluate`: data, a lab, two strategies, verified answers, one report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path  # typer reads the annotations at run time
from typing import Annotated

import typer

from cli.checkout import require_checkout
from cli.errors import UserError
from cli.extras import require_all_extras

PROJECT = Path(__file__).resolve().parent.parent
DATA = PROJECT / "data" / "debs2015" / "debs2015_20day_head10004.csv.gz"
WRONG_STATUS = 1
SITES = PROJECT / "lab" / "sites" / "evaluation.toml"


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("evaluate")(evaluate)


def evaluate(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Rows of any known format, or a trips table; by default those in the repository.",
            show_default=False,
        ),
    ] = None,
    generate: Annotated[
        int | None,
        typer.Option(
            metavar="MINUTES", min=1, max=720, help="Make up so many minutes of rows.", show_default=False
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of made-up rows.", show_default="0")] = None,
    query: Annotated[str, typer.Option(help="1, 2 or both.")] = "both",
    strategies: Annotated[
        str, typer.Option(help="Comma-separated: even, default, ras, stormplace, stormplace:STRATEGY.")
    ] = "even,stormplace",
    sites: Annotated[Path, typer.Option(help="Site file of the emulated wide area.")] = SITES,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="Rows per second of the last rows; the others go before, fast.", show_default="10"
        ),
    ] = None,
    paced_rows: Annotated[
        int | None,
        typer.Option(min=1, help="Rows at --rate; response times are theirs.", show_default="300"),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            min=0.01, help="Instead: all rows at so many times the trips' own speed.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the folder of this evaluation goes.")] = Path("runs"),
) -> None:
    """Run the taxi queries under several strategies on an emulated wide area; end with one HTML report.

    Takes rows in or makes them up, brings a lab up, replays the rows under each strategy, verifies every
    answer with Spark, analyses the runs and writes report.html into a folder of its own. The lab is taken
    down at the end, also after an error or Ctrl-C.

    Exit status: 0 done, 1 a step failed or an answer is wrong, 2 bad input, 130 ended by Ctrl-C.
    """
    require_checkout("evaluate")
    require_all_extras()
    from cli.data.analyse import print_analysis  # noqa: PLC0415  # heavy imports only for this command
    from cli.experiment_call import experiment_call  # noqa: PLC0415  # likewise
    from cli.progress import StepProgress  # noqa: PLC0415  # likewise
    from experiments.evaluation.evaluation_run import run_evaluation  # noqa: PLC0415  # likewise
    from experiments.evaluation.evaluation_settings import (  # noqa: PLC0415  # likewise
        EvaluationSettings,
        read_feeding,
        read_variants,
    )
    from experiments.topologies.taxi_query import QUERIES  # noqa: PLC0415  # likewise

    asked = next((known for known in QUERIES if known == query), None)
    if asked is None:
        raise UserError(f"--query: {query!r} is not one of {', '.join(QUERIES)}")
    if data is not None and generate is not None:
        raise UserError("--generate: it makes rows up, so --data does not go with it")
    if seed is not None and generate is None:
        raise UserError("--seed: it is for made-up rows, so it needs --generate")
    if data is not None and not data.exists():
        raise UserError(f"--data: no such file or folder: {data}")
    if not sites.is_file():
        raise UserError(f"--sites: no such file: {sites}")
    with experiment_call():
        settings = EvaluationSettings(
            data=data or DATA,
            minutes=generate,
            seed=seed or 0,
            query=asked,
            variants=read_variants(strategies),
            sites=sites,
            feeding=read_feeding(rate, paced_rows, speed),
            out=out,
            command=shlex.join(["stormplace", *sys.argv[1:]]),
        )
        finished = run_evaluation(settings, StepProgress)
    print_analysis(finished.analysis)
    typer.echo(f"{finished.busy}\nreport: {finished.report}")
    if not finished.right:
        raise UserError(
            f"an answer differs from the expected one: see {finished.report}", status=WRONG_STATUS
        )
