"""The errors of this package."""

from __future__ import annotations


class LabError(Exception):
    """Something that keeps the lab from working; one sentence that names the place."""


class NoLabError(LabError):
    """No lab is running, or it runs no more."""
