"""Tells the supervisor (SIGUSR1) when the code has changed: one of the programs of `make dev`.

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
_ALONE = ("app.py", "gunicorn.conf.py")
_ENDINGS = (".py", ".html", ".css", ".txt", ".js")
# Looking at some six hundred files takes ten milliseconds.
_LOOK_EVERY_S = 0.5

Seen = dict[str, int]


def look(root: Path) -> Seen:
    """Return when each file of the code was changed, in nanoseconds."""
    seen = {}
    for path in _files(root):
        try:
            seen[str(path)] = path.stat().st_mtime_ns
        except FileNotFoundError:
            continue  # it is being replaced
    return seen


def changed(before: Seen, now: Seen, root: Path) -> list[str]:
    """Return what was changed, added or removed, by its path below the root."""
    differ = sorted(name for name, _ in before.items() ^ now.items())
    return list(dict.fromkeys(os.path.relpath(name, root) for name in differ))


def main() -> None:
    """Look until the supervisor is gone."""
    supervisor, before = os.getppid(), look(_ROOT)
    while os.getppid() == supervisor:
        time.sleep(_LOOK_EVERY_S)
        now = look(_ROOT)
        if names := changed(before, now, _ROOT):
            click.echo(", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
            os.kill(supervisor, signal.SIGUSR1)
        before = now


def _files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in _ALONE)
    for folder in _FOLDERS:
        for parent, _, names in os.walk(root / folder):
            yield from (Path(parent) / name for name in names if name.endswith(_ENDINGS))


if __name__ == "__main__":
    main()
