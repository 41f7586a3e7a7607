"""Overrides of this process's settings, which tests may set and undo in any order."""

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
    """Clear the cached settings if an earlier test changed the environment since they were read."""
    if _environment != _read_environment():
        _cached_settings.cache_clear()


def build_settings(**concerns: Mapping[str, Any]) -> settings.Settings:
    """Return this process's settings with some of them changed: `build_settings(web={"port": 8123})`."""
    base = settings.current()
    changed = {name: dataclasses.replace(getattr(base, name), **lines) for name, lines in concerns.items()}
    return dataclasses.replace(base, **changed)


def override_settings(monkeypatch: pytest.MonkeyPatch, **concerns: Mapping[str, Any]) -> settings.Settings:
    """Change this process's settings until the patch ends, before or after any earlier override."""
    changed = build_settings(**concerns)
    monkeypatch.setitem(_overrides, object(), changed)
    return changed


_current_settings.cache_clear = _cached_settings.cache_clear  # type: ignore[attr-defined]  # as on the function that it replaces
settings.current = _current_settings  # type: ignore[assignment]  # for as long as this process runs
