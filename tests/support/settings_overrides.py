"""Settings of this process that tests turn, several at a time, in whichever order they are turned back."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import pytest

import settings

_cached_settings = settings.current
_overrides: dict[object, settings.Settings] = {}


_environment: dict[str, str] = {}


def _current_settings() -> settings.Settings:
    if _overrides:
        return next(reversed(_overrides.values()))
    if not _cached_settings.cache_info().currsize:
        _environment.clear()
        _environment.update(_read_environment())
    return _cached_settings()


def _read_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def reload_changed_environment() -> None:
    """Have the settings read anew where they are of another environment, as a test before this one changed it."""
    if _environment != _read_environment():
        _cached_settings.cache_clear()


def build_settings(**concerns: Mapping[str, Any]) -> settings.Settings:
    """Return this process's settings with some of them changed: `turned(web={"port": 8123})`."""
    config = settings.current()
    changed = {name: dataclasses.replace(getattr(config, name), **lines) for name, lines in concerns.items()}
    return dataclasses.replace(config, **changed)


def override_settings(monkeypatch: pytest.MonkeyPatch, **concerns: Mapping[str, Any]) -> settings.Settings:
    """Do so until the patch ends, which may be before or after an earlier one does."""
    config = build_settings(**concerns)
    monkeypatch.setitem(_overrides, object(), config)
    return config


_current_settings.cache_clear = _cached_settings.cache_clear  # type: ignore[attr-defined]  # as of the function that it stands for
settings.current = _current_settings  # type: ignore[assignment]  # for as long as this process runs
