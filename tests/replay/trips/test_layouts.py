"""Which layout a file has."""

from __future__ import annotations

import pytest

from replay.errors import DataError
from replay.trips.layouts import LAYOUTS, recognise

CHALLENGE = (
    "M,L,2013-01-01 00:00:00,2013-01-01 00:01:00,60,0.44,-73.956528,40.716976,-73.962440,40.715008,"
    "CSH,3.50,0.50,0.50,0.00,0.00,4.50"
)
EVENT = "65,END,2013-01-01 00:00:36,2013-01-01 00:00:09,-73.99221,40.725124,-73.991646,40.726658,1,65,65"
AGENCY = (
    "CMT,2013-01-01 15:11:48,2013-01-01 15:18:10,4,1,-73.978165,40.757977,1,N,-73.98984,40.751173,"
    "CSH,6.5,0,0.5,0,0,7"
)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (CHALLENGE, "challenge"),
        (CHALLENGE + "\r", "challenge"),
        (EVENT, "events"),
        (AGENCY, "agency"),
        (LAYOUTS["agency"].header, "agency"),
        ('1358101800000,{"e":[]}', "senml"),
    ],
)
def test_a_line_tells_its_layout(line: str, name: str) -> None:
    """Behind a line that shows nothing, too."""
    assert recognise("rows.csv", [line]).name == name
    assert recognise("rows.csv", ["", "a,b", line, CHALLENGE, EVENT]).name == name


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(DataError, match=r"^rows\.csv: line 1: of none of the known formats \(challenge: "):
        recognise("rows.csv", ["a,b,c", CHALLENGE.replace("2013-01-01 00:01", "tomorrow")])
