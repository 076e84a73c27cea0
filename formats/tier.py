"""Tiers of hosts: how near they are to where data comes from."""

from __future__ import annotations

from typing import Literal, get_args

Tier = Literal["edge", "fog", "cloud"]
TIERS: tuple[Tier, ...] = get_args(Tier)
"""From where data comes from to data centres (paper 002, section IV-A)."""
