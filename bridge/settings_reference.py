"""The reference of the daemon's settings, written from their definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args, get_origin

from bridge.settings import Settings

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false"}
_SIGNS = (("ge", ">= "), ("gt", "> "), ("le", "<= "), ("lt", "< "))


def settings_reference() -> str:
    """Return one Markdown table per section: key, type, range, default, meaning."""
    parts: list[str] = []
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if model is None or not hasattr(model, "model_fields"):
            raise TypeError(f"section {section} has no fields")
        parts += [f"### [{section}]", "", (model.__doc__ or "").strip(), ""]
        parts += ["| key | type | range | default | meaning |", "|---|---|---|---|---|"]
        parts += [_row(key, field) for key, field in model.model_fields.items()]
        parts.append("")
    return "\n".join(parts)


def _row(key: str, field: FieldInfo) -> str:
    default = "none" if field.default in (None, ()) else f"`{str(field.default).lower()}`"
    meaning = " ".join((field.description or "").split())
    return f"| `{key}` | {_type(field)} | {_range(field)} | {default} | {meaning} |"


def _type(field: FieldInfo) -> str:
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(f"`{choice}`" for choice in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "tables"
    # An optional value is described by its type; the default says that it may be left out.
    kinds = [kind for kind in (annotation, *get_args(annotation)) if kind in _TYPES]
    return _TYPES[kinds[0]]


def _range(field: FieldInfo) -> str:
    bounds = [
        f"{sign}{getattr(rule, name):g}"
        if isinstance(getattr(rule, name), float)
        else f"{sign}{getattr(rule, name)}"
        for rule in field.metadata
        for name, sign in _SIGNS
        if hasattr(rule, name)
    ]
    return ", ".join(bounds) or "-"
