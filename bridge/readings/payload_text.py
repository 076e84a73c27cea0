"""The text of a reading that comes packed: an older shim passes on what the znode holds."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from formats.packed_content import unpack


def text_of(payload: bytes) -> bytes:
    """Return the JSON text of a reading.

    Args:
        payload: Text, or packed as in the znode. A shim unpacks readings, and passes on what it cannot
            unpack.

    Raises:
        ValidationError: It cannot be unpacked; a fault of form, as of what is no JSON.
    """
    try:
        return unpack(payload)
    except ValueError as error:
        fault = PydanticCustomError("packed_content", "{reason}", {"reason": str(error)})
        raise ValidationError.from_exception_data(
            "reading", [InitErrorDetails(type=fault, loc=(), input=payload)]
        ) from error
