"""What Nimbus' own configuration says about the placement of all topologies."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bridge.faults import phrases
from bridge.wishes.setting_texts import read_settings

_Amount = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
_Machines = Annotated[int, Field(ge=1, strict=True)]


class Guarantee(BaseModel):
    """What a user is guaranteed.

    Attributes:
        cpu: CPU, 100 = one core.
        memory: Memory, MB.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    cpu: _Amount = 0.0
    memory: _Amount = 0.0


class ClusterSettings(BaseModel):
    """Keys of Nimbus that Storm's schedulers read too.

    Attributes:
        guarantees: What users are guaranteed; without any, users do not count.
        machines: Hosts that a topology gets for itself, by its name.
        machines_of_user: Hosts that all isolated topologies of a user may have together; none of users
            that are not named.
        faults: One phrase per bad value; the user or topology that it is for counts as not named.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    guarantees: dict[str, Guarantee] = Field(default={}, alias="resource.aware.scheduler.user.pools")
    machines: dict[str, _Machines] = Field(default={}, alias="isolation.scheduler.machines")
    machines_of_user: dict[str, _Machines] = Field(default={}, alias="multitenant.scheduler.user.pools")
    faults: tuple[str, ...] = ()


def parse_cluster_settings(text: str | None) -> ClusterSettings:
    """Read Nimbus' keys; a bad value is named in `faults`, and the others count.

    Args:
        text: JSON object of Nimbus' keys; None from a shim that sends none.
    """
    given, unread = read_settings(text, "Nimbus'")
    given = {key: value for key, value in given.items() if value is not None}
    faults = tuple(unread.values())
    try:
        settings = ClusterSettings.model_validate(given)
    except ValidationError as error:
        bad = {fault["loc"][:2] for fault in error.errors(include_url=False)}
        good = {
            key: {name: value for name, value in table.items() if (key, name) not in bad}
            for key, table in given.items()
            if (key,) not in bad and isinstance(table, dict)
        }
        settings, faults = ClusterSettings.model_validate(good), (*faults, *phrases(error))
    return settings.model_copy(update={"faults": faults})
