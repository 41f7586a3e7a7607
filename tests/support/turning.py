"""Settings of this process that tests turn, several at a time, in whichever order they are turned back."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

import settings

_known = settings.current
_turned: dict[object, settings.Settings] = {}


def _current() -> settings.Settings:
    return next(reversed(_turned.values())) if _turned else _known()


def turned(**concerns: Mapping[str, Any]) -> settings.Settings:
    """Return this process's settings with some of them changed: `turned(web={"port": 8123})`."""
    chosen = settings.current()
    changed = {name: dataclasses.replace(getattr(chosen, name), **lines) for name, lines in concerns.items()}
    return dataclasses.replace(chosen, **changed)


def turn(monkeypatch: pytest.MonkeyPatch, **concerns: Mapping[str, Any]) -> settings.Settings:
    """Do so until the patch ends, which may be before or after an earlier one does."""
    chosen = turned(**concerns)
    monkeypatch.setitem(_turned, object(), chosen)
    return chosen


_current.cache_clear = _known.cache_clear  # type: ignore[attr-defined]  # as of the function that it stands for
settings.current = _current  # type: ignore[assignment]  # for as long as this process runs
