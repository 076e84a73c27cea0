"""Libraries that only some commands need, and the refusal of a command whose library is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from cli.errors import UserError

EXTRA_OF = {
    "pyspark": "data",
    "pyarrow": "data",
    "pandas": "data",
    "orjson": "data",
    "streamparse": "topologies",
    "pystorm": "topologies",
    "redis": "topologies",
    "requests": "topologies",
    "kafka": "kafka",
    "matplotlib": "reports",
    "jinja2": "reports",
}
"""The extra of pyproject.toml that brings a module; commands import these modules only when they run."""


def lacks_extra(error: ModuleNotFoundError) -> UserError | None:
    """Turn a failed import into the refusal that names the extra; None if no extra brings the module."""
    module = (error.name or "").partition(".")[0]
    return _refusal([module], EXTRA_OF[module]) if module in EXTRA_OF else None


def require_all_extras() -> None:
    """Refuse a command that runs for minutes and would miss a library only in its last step.

    Raises:
        UserError: A library of an extra is not installed.
    """
    missing = [module for module in EXTRA_OF if find_spec(module) is None]
    if missing:
        raise _refusal(missing, "all")


def _refusal(modules: list[str], extra: str) -> UserError:
    verb = "is" if len(modules) == 1 else "are"
    return UserError(f"{', '.join(modules)} {verb} not installed: pip install 'stormplace[{extra}]'")
