"""Settings of the provider: `[provider]`, whose `kind` says what else is in it, and tables `[offer.NAME]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, ValidationError, field_validator, model_validator

from bridge.faults import phrases
from bridge.settings_section import Section
from provisioning.providers.command_settings import CommandSettings
from provisioning.providers.provider_section import ProviderSection

if TYPE_CHECKING:
    from collections.abc import Mapping

Share = Annotated[float, Field(ge=0, le=1)]


class ProviderSettingsError(ValueError):
    """Bad settings of a provider: one sentence with the path of every bad key."""


class OfferSettings(Section):
    """A kind of host that can be leased."""

    cpu: float = Field(gt=0, le=1e9)
    """In percent of one core, as Storm counts."""
    memory_mb: float = Field(gt=0, le=1e12)
    """MB."""
    slots: int = Field(ge=1, le=100_000)
    """Executors that are placed on a host at the most."""
    billing_unit_s: float = Field(gt=0, le=1e9)
    """What has been started of one is paid whole, s."""
    unit_cost: float = Field(ge=0, le=1e12)
    """Of a billing unit, in any currency."""
    boot_s: float = Field(default=60.0, ge=0, le=86_400)
    """Usual time from the request until a host is up, s."""


class SimulatedSettings(ProviderSection):
    """Hosts that exist in name only."""

    kind: Literal["simulated"]
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """Of all chance."""
    boot_sigma: float = Field(default=0.0, ge=0, le=10)
    """Of the logarithm of boot times, whose median is the offer's `boot_s`."""
    failed_share: Share = 0.0
    """Probability that a boot fails."""
    delayed_share: Share = 0.0
    """Probability that a boot takes `delay_s` longer."""
    delay_s: float = Field(default=0.0, ge=0, le=86_400)
    """By how much it does, s."""
    hosts_max: int | None = Field(default=None, ge=0, le=1_000_000)
    """Hosts at once; without it any number."""


class LabSettings(ProviderSection):
    """Hosts of a lab that have not joined."""

    kind: Literal["lab"]
    sites: str = Field(min_length=1)
    """Site file of the lab; hosts are those with `joined = false`."""
    folder: str | None = Field(default=None, min_length=1)
    """State folder of the lab; without it the lab's own."""
    program: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] = ("stormplace",)
    """The program `stormplace`, with arguments that come first."""
    added_boot_s: float = Field(default=0.0, ge=0, le=3600)
    """For so long a host waits before it joins, as a rented one would boot, s."""
    name_rest_s: float = Field(default=0.0, ge=0, le=1e7)
    """For so long a host that left is not leased again, s."""
    command_limit_s: float = Field(default=240.0, gt=0, le=3600)
    """Each command is killed after that time, s."""

    @model_validator(mode="after")
    def _joins_in_time(self) -> LabSettings:
        if self.added_boot_s >= self.boot_limit_s:
            limit, added = self.boot_limit_s, self.added_boot_s
            raise ValueError(f"added_boot_s: must be < boot_limit_s ({limit:g}), got {added:g}")
        return self


class HttpSettings(ProviderSection):
    """A service that is asked over HTTP. Its offers are its own."""

    kind: Literal["http"]
    url: str = Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*[^/?#@\s])?$")
    """Its address, without a slash at the end."""
    token_file: str | None = Field(default=None, min_length=1)
    """File with the bearer token; read for each call."""
    connect_limit_s: float = Field(default=3.0, gt=0, le=600)
    """Until a connection stands, s."""
    read_limit_s: float = Field(default=10.0, gt=0, le=600)
    """Between two pieces of an answer, s."""
    call_limit_s: float = Field(default=30.0, gt=0, le=600)
    """Of a call with all its repetitions, s."""
    retries: int = Field(default=2, ge=0, le=20)
    """Repetitions of a call at the most."""
    backoff_s: float = Field(default=0.5, ge=0, le=60)
    """Pause before the second repetition, s; each is twice the one before."""

    @field_validator("url", mode="before")
    @classmethod
    def _is_public(cls, url: object) -> object:
        if "@" in str(url):
            raise ValueError("must hold no name or password; a token belongs into token_file")  # not shown
        return url


ProviderTable: TypeAlias = Annotated[
    SimulatedSettings | CommandSettings | LabSettings | HttpSettings, Field(discriminator="kind")
]


class ProviderSettings(Section):
    """The provider and what it offers."""

    provider: ProviderTable
    offer: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], OfferSettings] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _has_offers(self) -> ProviderSettings:
        if self.provider.kind == "http" and self.offer:
            raise ValueError("offer: a provider of kind http has offers of its own")
        if self.provider.kind != "http" and not self.offer:
            raise ValueError("offer: at least one table [offer.NAME] is needed")
        return self


def provider_settings(content: Mapping[str, Any]) -> ProviderSettings:
    """Return the settings of a provider.

    Args:
        content: What a TOML file has under `provider` and `offer`.

    Raises:
        ProviderSettingsError: Keys are unknown or missing, or values bad (all named).
    """
    try:
        return ProviderSettings.model_validate(content)
    except ValidationError as error:
        raise ProviderSettingsError("; ".join(provider_faults(error))) from None


def provider_faults(error: ValidationError) -> list[str]:
    """Return one phrase per fault, as `bridge.faults.phrases` does, with paths as in the file.

    pydantic puts the kind into the path of what is below `provider`.
    """
    kinds = "|".join(("simulated", "command", "lab", "http"))
    return [
        re.sub(rf"^provider\.(?:{kinds})(?:\.|: (?=\w+: ))", "provider.", each) for each in phrases(error)
    ]
