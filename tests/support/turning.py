"""Settings of this process that tests turn, several at a time, in whichever order they are turned back."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import pytest

import settings

_known = settings.current
_turned: dict[object, settings.Settings] = {}


_environment: dict[str, str] = {}


def _current() -> settings.Settings:
    if _turned:
        return next(reversed(_turned.values()))
    if not _known.cache_info().currsize:
        _environment.clear()
        _environment.update(_told())
    return _known()


def _told() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def forget_others() -> None:
    """Have the settings read anew where they are of another environment, as a test before this one changed it."""
    if _environment != _told():
        _known.cache_clear()


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
