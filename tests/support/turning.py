"""Settings of this process that a test turns."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import settings


def turned(**concerns: Mapping[str, Any]) -> settings.Settings:
    """Return this process's settings with some of them changed: `turned(web={"port": 8123})`."""
    chosen = settings.current()
    changed = {name: dataclasses.replace(getattr(chosen, name), **lines) for name, lines in concerns.items()}
    return dataclasses.replace(chosen, **changed)


def turn(monkeypatch: Any, **concerns: Mapping[str, Any]) -> settings.Settings:
    """Do so until the test ends."""
    chosen = turned(**concerns)
    monkeypatch.setattr(settings, "current", lambda: chosen)
    return chosen
