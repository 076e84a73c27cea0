"""What the decision core remembers and decides, as JSON and back, to the same bit."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator, TypeAdapter

from scheduler.base.arrays import FloatArray, frozen
from scheduler.elasticity.layers.managers_of import MANAGERS
from scheduler.elasticity.layers.one_pool.basis import Basis
from scheduler.elasticity.leasing.by_load.usual import Usual
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Host, Offer
from scheduler.elasticity.leasing.observation import ComponentReading, QueueReading
from scheduler.elasticity.leasing.removal_score import RemovalWeights

_DATA = "zlib-f8"
"""Key of an array's numbers: little-endian floats of 8 bytes, compressed; another coding gets another key."""


def codec(kind: object) -> TypeAdapter[Any]:
    """Return what turns objects of a type of the decision core into JSON, and back."""
    return _codec(kind)


@cache
def _codec(kind: Any) -> TypeAdapter[Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    adapter.rebuild(_types_namespace=_NAMES)
    return adapter


def _packed(array: FloatArray) -> dict[str, Any]:
    # bytes of like weight beside each other: tables are smooth, or mostly the same number
    planes = np.ascontiguousarray(array, "<f8").view(np.uint8).reshape(-1, 8).T
    content = base64.b64encode(zlib.compress(planes.tobytes(), 1)).decode()
    return {"shape": list(array.shape), _DATA: content}


def _unpacked(found: object) -> FloatArray:
    """Return an array.

    Raises:
        ValueError: It is none, or has not as many numbers as its shape says.
    """
    if not isinstance(found, dict) or found.keys() != {"shape", _DATA}:
        raise ValueError(f"expected an array with shape and {_DATA}")
    shape = found["shape"]
    if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError("expected a shape of whole numbers")
    try:
        content = zlib.decompress(base64.b64decode(found[_DATA], validate=True))
    except (TypeError, binascii.Error, zlib.error) as error:
        raise ValueError(f"the numbers cannot be read ({error})") from error
    planes = np.frombuffer(content, np.uint8).reshape(8, -1)
    array: FloatArray = np.ascontiguousarray(planes.T).view("<f8").reshape(shape).astype(np.float64)
    return frozen(array)


_KINDS: Mapping[str, type[Any]] = {
    f"{kind.__module__.rpartition('elasticity.')[2]}.{kind.__name__}": kind
    for kind in (type(each.first) for each in MANAGERS.values())
}
"""States of managers by where they are defined; those of operators and of regions have like names."""


def _named(state: Any) -> dict[str, Any]:
    name = next(name for name, kind in _KINDS.items() if type(state) is kind)
    return {name: codec(type(state)).dump_python(state, mode="json")}


def _of_its_kind(found: object) -> Any:
    if not isinstance(found, dict) or len(found) != 1 or not found.keys() <= _KINDS.keys():
        raise ValueError(f"expected the state of a manager: {', '.join(_KINDS)}")
    ((name, content),) = found.items()
    return codec(_KINDS[name]).validate_python(content)


_State = Annotated[Any, PlainSerializer(_named), PlainValidator(_of_its_kind)]
_NAMES: Mapping[str, Any] = {
    "Mapping": Mapping,
    "Component": Component,
    "Offer": Offer,
    "Host": Host,
    "ComponentReading": ComponentReading,
    "QueueReading": QueueReading,
    "RemovalWeights": RemovalWeights,
    "Basis": Basis,
    "Usual": Usual,
    "FloatArray": Annotated[Any, PlainSerializer(_packed), PlainValidator(_unpacked)],
    "OperatorState": _State,
    "RegionState": _State,
}
"""Of the annotations in `scheduler`, which imports them for type checks only, or has no JSON for them."""
