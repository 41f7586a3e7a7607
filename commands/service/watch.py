"""Signals the supervisor (SIGUSR1) when the code has changed: one of the programs of `make dev`.

python -m commands.service.watch
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import click

_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("adapters", "api", "commands", "domain", "models", "pages", "pipelines", "schemas", "settings", "workers")
_FILES = ("app.py", "gunicorn.conf.py")
_SUFFIXES = (".py", ".html", ".css", ".txt", ".js")
# Checking some six hundred files takes ten milliseconds.
_SCAN_INTERVAL_S = 0.5

Timestamps = dict[str, int]


def scan(root: Path) -> Timestamps:
    """Return each code file's time of change, in nanoseconds."""
    seen = {}
    for path in _list_files(root):
        try:
            seen[str(path)] = path.stat().st_mtime_ns
        except FileNotFoundError:
            continue  # it is being replaced
    return seen


def list_changes(before: Timestamps, now: Timestamps, root: Path) -> list[str]:
    """Return the files that were changed, added or removed, as paths below the root."""
    differ = sorted(name for name, _ in before.items() ^ now.items())
    return list(dict.fromkeys(os.path.relpath(name, root) for name in differ))


def main() -> None:
    """Check for changes until the supervisor ends."""
    supervisor, before = os.getppid(), scan(_ROOT)
    while os.getppid() == supervisor:
        time.sleep(_SCAN_INTERVAL_S)
        now = scan(_ROOT)
        if names := list_changes(before, now, _ROOT):
            click.echo(", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
            os.kill(supervisor, signal.SIGUSR1)
        before = now


def _list_files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in _FILES)
    for folder in _FOLDERS:
        for parent, _, names in os.walk(root / folder):
            yield from (Path(parent) / name for name in names if name.endswith(_SUFFIXES))


if __name__ == "__main__":
    main()
