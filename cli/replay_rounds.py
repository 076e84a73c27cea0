"""The command `replay-rounds`: recorded rounds planned again, and whether the same plans come out."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError, refused

if TYPE_CHECKING:
    from bridge.record.record import RoundRecord


def replay_rounds(
    path: Annotated[Path, typer.Argument(help="A record file of the daemon, or its record.directory.")],
    last: Annotated[
        int | None, typer.Option(min=1, help="Only so many of the newest rounds.", show_default=False)
    ] = None,
) -> None:
    """Plan recorded rounds again: the same request, settings and memory give the same bytes.

    Of rounds of another version the words of status lines may differ, which is said and does not count.
    Exit status 1 if a round differs. A round that was cut short by the clock may find more without it.
    """
    from bridge.record.record import RecordError, read_records  # noqa: PLC0415  # loads the decision core

    with refused(RecordError):
        records = deque(read_records(path), maxlen=last)
    if not records:
        raise UserError(f"{path}: no recorded rounds")
    outcomes = [_outcome(record) for record in records]
    for record, outcome in zip(records, outcomes, strict=True):
        at = datetime.fromtimestamp(record.time_s, UTC)
        typer.echo(f"{at:%Y-%m-%d %H:%M:%S.%f}".removesuffix("000") + f" UTC  {outcome}")
    differing = outcomes.count("differs")
    typer.echo(f"rounds: {len(records)}, differing: {differing}")
    if differing:
        raise typer.Exit(1)


def _outcome(record: RoundRecord) -> str:
    from bridge.record.replay_record import replay, same_plans  # noqa: PLC0415  # as above
    from bridge.settings_file import SettingsError  # noqa: PLC0415
    from bridge.wire.contract import WireError  # noqa: PLC0415

    with refused(WireError, SettingsError, by="a round of another version of stormplace"):
        again = replay(record)
    if again == record.response:
        return "the same"
    if same_plans(again, record.response):
        return "the same, in other words"
    return "differs: the clock had cut it short" if record.timed_out else "differs"
