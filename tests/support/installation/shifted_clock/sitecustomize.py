"""Shifts the wall clock of a Python process by CLOCK_SHIFT_S seconds, like a machine with a wrong clock.

Python loads this module at start if its folder is on PYTHONPATH. Monotonic clocks are not shifted, as on a real
machine. The constructors still return plain datetime objects, because libraries compare the type itself.
"""

import datetime
import os
import time

_SHIFT_S = int(os.environ.get("CLOCK_SHIFT_S", "0"))
_NS = 1_000_000_000
_Plain = datetime.datetime
_time, _time_ns = time.time, time.time_ns


class _PlainInstanceCheck(type(_Plain)):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Plain)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _Plain)


class _Shifted(_Plain, metaclass=_PlainInstanceCheck):
    """The class `datetime` of this process: its current time is shifted."""

    def __new__(cls, *parts: object, **keywords: object) -> _Plain:
        return _Plain(*parts, **keywords)  # type: ignore[arg-type]  # any valid arguments

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
    datetime.datetime = _Shifted  # type: ignore[misc]  # the purpose of this module
