"""What every table `[provider]` has."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bridge.settings_section import Section


class ProviderSection(Section):
    """A provider of hosts."""

    bill_from: Literal["ready", "request"] = "ready"
    """When the first billing unit of a lease starts."""
    boot_limit_s: float = Field(default=900.0, gt=0, le=86_400)
    """A host that is not up so long after the request has failed and is stopped, s."""
