"""What made-up trips cost: fare by New York's tariff of 2013, surcharges, tolls and tips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.trips.plan import HOUR_S, MINUTE_S
from replay.trips.rates import HOURS
from replay.trips.table import AMOUNTS, DAY_S

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray

PAYMENTS = ("CSH", "CRD", "UNK")

_PAYMENT_SHARES = (0.6, 0.3998)
_CARD = 1
_FIRST_CENTS = 250
_STEP_CENTS = 50
_FARE_FIT = (207.0, 213.7, 33.5)
"""Cents at the start, per mile and per minute: least squares over the real rows, half a step added."""
_FARE_SIGMA_CENTS = 40.0
_FLAT_CENTS = 5200
_FLAT_MILES = 13.0
_FLAT_SHARE = 0.25
_SURCHARGE_CENTS = 50
_EVENING = (16, 20)
_NIGHT = (20, 6)
_NO_TAX = 0.002
_TAX_CENTS = 50
_TOLL_CENTS = (480, 1025, 220)
_TOLL_SHARES = (0.83, 0.11, 0.06)
_TOLL_MILES = 5.0
_TOLL = 0.09
_TIP_KINDS = (0.055, 0.445, 0.13, 0.085)
"""Of cards: nothing, 20 %, 25 %, 30 % of fare and surcharge; the rest gives about half dollars."""
_TIP_PERCENTS = (0, 20, 25, 30)
_MONDAY_TO_FRIDAY = 5
_FIRST_MONDAY = 4


def money(
    stream: np.random.Generator, pickup_s: IntArray, duration_s: IntArray, miles: FloatArray
) -> tuple[np.ndarray, dict[str, FloatArray]]:
    """Return the kind of payment (place in `PAYMENTS`) and the amounts in dollars, by column.

    Args:
        stream: Random numbers.
        pickup_s: Pick-ups, seconds since 1970.
        duration_s: Durations, seconds.
        miles: Distances.
    """
    rows = len(miles)
    payment = np.searchsorted(np.cumsum(_PAYMENT_SHARES), stream.random(rows), side="right").astype(np.int8)
    fare = _fare(stream, duration_s, miles)
    surcharge = _surcharge(pickup_s)
    tax = np.where(stream.random(rows) < _NO_TAX, 0, _TAX_CENTS)
    tolls = np.zeros(rows, dtype=np.int64)
    paid = np.flatnonzero((miles > _TOLL_MILES) & (stream.random(rows) < _TOLL))
    tolls[paid] = stream.choice(_TOLL_CENTS, len(paid), p=_TOLL_SHARES)
    tip = np.zeros(rows, dtype=np.int64)
    cards = np.flatnonzero(payment == _CARD)
    tip[cards] = _tips(stream, fare[cards], surcharge[cards])
    cents = (fare, surcharge, tax, tip, tolls, fare + surcharge + tax + tip + tolls)
    return payment, {name: value / 100.0 for name, value in zip(AMOUNTS, cents, strict=True)}


def _fare(stream: np.random.Generator, duration_s: IntArray, miles: FloatArray) -> IntArray:
    start, per_mile, per_minute = _FARE_FIT
    expected = start + per_mile * miles + per_minute / MINUTE_S * duration_s
    above = expected + _FARE_SIGMA_CENTS * stream.standard_normal(len(miles)) - _FIRST_CENTS
    fare = _FIRST_CENTS + _STEP_CENTS * np.maximum(np.rint(above / _STEP_CENTS), 0).astype(np.int64)
    flat = (miles > _FLAT_MILES) & (stream.random(len(miles)) < _FLAT_SHARE)
    return np.where(flat, _FLAT_CENTS, fare)


def _surcharge(pickup_s: IntArray) -> IntArray:
    """Return 1 dollar on weekdays from 16 h, half a dollar from 20 h to 6 h, else nothing, in cents."""
    hour = pickup_s // HOUR_S % HOURS
    weekday = (pickup_s // DAY_S - _FIRST_MONDAY) % 7
    evening = (hour >= _EVENING[0]) & (hour < _EVENING[1]) & (weekday < _MONDAY_TO_FRIDAY)
    night = (hour >= _NIGHT[0]) | (hour < _NIGHT[1])
    return np.asarray(_SURCHARGE_CENTS * (2 * evening + night))


def _tips(stream: np.random.Generator, fare: IntArray, surcharge: IntArray) -> IntArray:
    kind = np.searchsorted(np.cumsum(_TIP_KINDS), stream.random(len(fare)), side="right")
    percent = np.append(_TIP_PERCENTS, 0)[kind]
    tip: IntArray = np.rint((fare + surcharge) * percent / 100).astype(np.int64)
    rounded = np.flatnonzero(kind == len(_TIP_KINDS))
    wanted = fare[rounded] * stream.uniform(0.1, 0.25, len(rounded))
    tip[rounded] = np.maximum(np.rint(wanted / _STEP_CENTS).astype(np.int64), 2) * _STEP_CENTS
    return tip
