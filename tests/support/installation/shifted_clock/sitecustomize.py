"""Shift the wall clock of a Python process by CLOCK_SHIFT_S seconds, as a machine whose clock is wrong would have it.

Python loads this at its start where the folder is on PYTHONPATH. Clocks that only measure spans stay as they are, as
they do on a real machine. What makes a datetime still makes a plain one: libraries compare the type itself.
"""

import datetime
import os
import time

_SHIFT_S = int(os.environ.get("CLOCK_SHIFT_S", "0"))
_NS = 1_000_000_000
_Plain = datetime.datetime
_time, _time_ns = time.time, time.time_ns


class _Kind(type(_Plain)):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Plain)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _Plain)


class _Shifted(_Plain, metaclass=_Kind):
    """The class `datetime` of this process: its current time is shifted."""

    def __new__(cls, *parts: object, **named: object) -> _Plain:
        return _Plain(*parts, **named)  # type: ignore[arg-type]  # whatever was given

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Plain:
        return _Plain.now(tz) + datetime.timedelta(seconds=_SHIFT_S)

    @classmethod
    def utcnow(cls) -> _Plain:
        return cls.now(datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> _Plain:
        return cls.now()


if _SHIFT_S:
    time.time = lambda: _time() + _SHIFT_S
    time.time_ns = lambda: _time_ns() + _SHIFT_S * _NS
    datetime.datetime = _Shifted  # type: ignore[misc]  # that is what this file is for
