"""docs/host-providers.md: its keys are those that are read; its example leases from a stand-in of `aws`."""

from __future__ import annotations

import json
import re
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from provisioning.providers import http
from provisioning.providers.command_settings import CommandSettings
from provisioning.providers.making import make_provider
from provisioning.providers.provider import ProviderError
from provisioning.providers.provider_section import ProviderSection
from provisioning.providers.settings import (
    HttpSettings,
    LabSettings,
    SimulatedSettings,
    provider_settings,
)

GUIDE = (Path(__file__).parents[2] / "docs" / "host-providers.md").read_text(encoding="utf-8")
BLOCKS = [textwrap.dedent(each) for each in re.findall(r"\n\n((?:    .*\n|\n(?=    ))+)", GUIDE)]

# A cloud of one folder: an instance per client token, and all arguments of each call.
AWS = f"""#!{sys.executable}
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
asked = dict(zip(sys.argv[3::2], sys.argv[4::2]))
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
known = folder / "instances"
instances = json.loads(known.read_text()) if known.exists() else {{}}
if sys.argv[2] == "run-instances":
    if asked["--instance-type"] == "sold.out":
        print("An error occurred (InsufficientInstanceCapacity): no capacity", file=sys.stderr)
        sys.exit(254)
    name = asked["--tag-specifications"].partition("Key=Name,Value=")[2].partition("}}")[0]
    new = [asked["--client-token"], "running", name, f"i-{{len(instances)}}"]
    print(instances.setdefault(asked["--client-token"], new)[3])
elif sys.argv[2] == "terminate-instances":
    if (folder / "locked").exists():
        sys.exit("An error occurred (UnauthorizedOperation): not yours")
    if asked["--instance-ids"] not in [each[3] for each in instances.values()]:
        sys.exit("An error occurred (InvalidInstanceID.NotFound): there is no such instance")
    for each in instances.values():
        each[1] = "shutting-down" if each[3] == asked["--instance-ids"] else each[1]
else:
    for each in instances.values():
        print("\\t".join(each))
known.write_text(json.dumps(instances))
"""


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("## Settings", ProviderSection),
        ("### simulated", SimulatedSettings),
        ("### command", CommandSettings),
        ("### lab", LabSettings),
        ("### http", HttpSettings),
    ],
)
def test_keys_and_defaults_are_those_that_are_read(heading: str, section: type[ProviderSection]) -> None:
    part = re.split(r"\n##", GUIDE.split(f"\n{heading}\n", 1)[1])[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", part, flags=re.MULTILINE))
    assert set(rows) == set(section.__annotations__) - {"kind"}
    for key, shown in rows.items():
        field = section.model_fields[key]
        default = field.default if isinstance(field.default, tuple) else (field.default,)
        texts = ", ".join(f"`{each}`" for each in default if each not in (None, ""))
        assert shown == ("required" if field.is_required() else texts or "none")


def test_offers_of_the_guide_are_accepted() -> None:
    (offers,) = (each for each in BLOCKS if each.startswith("[offer"))
    content = {**tomllib.loads(offers), "provider": {"kind": "simulated"}}
    assert provider_settings(content).offer["large"].boot_s == 90.0


def test_answers_of_the_guide_are_accepted() -> None:
    answers = [each for each in BLOCKS if each.startswith("{")]
    for text, answer in zip(answers, (http._OFFERS, http._LEASE, http._LEASES), strict=True):
        answer.validate_json(text)


@pytest.mark.programs
def test_the_example_of_a_cloud_leases_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the arguments that `aws` takes; a restart in between changes nothing."""
    (tmp_path / "aws").write_text(AWS)
    (tmp_path / "aws").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (example,) = (each for each in BLOCKS if each.startswith("[provider]"))
    content = tomllib.loads(example)
    content["offer"]["sold.out"] = content["offer"]["m6i.xlarge"]

    def leases() -> list[tuple[str, str]]:
        return [(each.host, each.status) for each in made().leases(30.0)]

    def made():
        return make_provider(provider_settings(content), tmp_path / "state", lambda _: False)

    with pytest.raises(
        ProviderError, match=r"^start: aws ended with status 254: .*InsufficientInstanceCapacity"
    ):
        made().lease("sold.out", "round-7.0", 0.0)
    for request in ("round-7.1", "round-7.1", "round-7.2"):
        made().lease("m6i.xlarge", request, 0.0)
    assert leases() == [("spot-1", "ready"), ("spot-2", "ready")]
    made().release("lease-2", 30.0, 30.0)
    assert leases() == [("spot-1", "ready"), ("spot-2", "gone")]
    calls = [json.loads(each) for each in (tmp_path / "calls").read_text().splitlines()]
    assert [each[1] for each in calls] == [
        *["run-instances"] * 3,
        "describe-instances",
        "terminate-instances",
        "describe-instances",
    ]
    assert calls[1][2:4] == ["--client-token", "round-7.1"]
    assert "ResourceType=instance,Tags=[{Key=Name,Value=spot-1}]" in calls[1]
    assert calls[4] == ["ec2", "terminate-instances", "--instance-ids", "i-1"]
    (tmp_path / "locked").touch()
    with pytest.raises(ProviderError, match=r"^stop: sh ended with status 1: .*UnauthorizedOperation"):
        made().release("lease-1", 30.0, 30.0)
    # the loop did not run for some hours, in which it was stopped by others
    (tmp_path / "locked").unlink()
    (tmp_path / "instances").unlink()
    assert leases() == [("spot-1", "gone"), ("spot-2", "gone")]
