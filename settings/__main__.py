"""Prints every setting as the page docs/settings.md: `python -m settings > docs/settings.md`."""

import sys
from dataclasses import MISSING
from typing import Any, get_type_hints

from settings import Settings
from settings.table import Concern, Variable

_HEAD = """\
# Settings

`python -m settings` prints this page. Change a line in `settings/concerns` and print it again.

All settings are environment variables; an empty one counts as not set.

Without `DATABASE_URL` and `REDIS_URL` the embedded servers in `DATA_DIR` are used, if `requirements/local.txt` is
installed: `make run` starts them, and again when one dies; commands only connect (by hand: `python -m adapters.embedded
start|stop|status DATA_DIR`). The service logs in there as `finderfee_login`, which has no powers; the owner's password
is in `DATA_DIR/owner.pgpass`. With your own servers the same commands use yours: `make run` leaves them running,
`make test` makes databases of its own on your PostgreSQL (its broker stays private).
"""


def page() -> str:
    """Return the page: a table per concern, in Markdown."""
    return "\n".join([_HEAD, *(_section(name, concern) for name, concern in get_type_hints(Settings).items())])


def _section(name: str, concern: type[Concern]) -> str:
    title, about = name.replace("_", " ").capitalize(), concern.__doc__ or ""
    rows = (f"| `{line.name}` | {_default(line)} | {line.meaning} |" for line in concern.variables())
    return "\n".join([f"## {title}", "", about, "", "| Variable | Default | Meaning |", "|---|---|---|", *rows, ""])


def _default(line: Variable[Any]) -> str:
    if line.shown:
        return line.shown
    if isinstance(line.default, bool):
        return "`on`" if line.default else "`off`"
    if line.default in (None, (), MISSING):
        return "none"
    return f"`{','.join(map(str, line.default)) if isinstance(line.default, tuple) else line.default}`"


if __name__ == "__main__":
    sys.stdout.write(page())
