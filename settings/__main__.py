"""Prints every setting as the page docs/settings.md: `python -m settings > docs/settings.md`."""

import sys
from dataclasses import MISSING
from typing import Any, get_type_hints

from settings import Settings
from settings.table import DEFAULT, Concern, NamedValues, Variable

_HEAD = """\
# Settings

`python -m settings` prints this page. Change a line in `settings/concerns` and print it again.

All settings are environment variables; an empty one counts as not set.

Some variables take several values by their names, with spaces or commas between them (a shell needs the quotes), such
as `RATE_LIMITS_PER_MIN="apply=10 s2s=3000"`; a name that is not written keeps its default. Where there is a value named
`default`, it is written without its name: `JOB_SLOTS="8 mail=2"`.

Until the next release the variables that earlier releases had for each of these values still work, such as
`JOB_SLOTS_MAIL=2`. At start each of them is logged as a warning with the form that replaces it. A variable and one of
its old names cannot both be set.

Without `DATABASE_URL` and `REDIS_URL` the embedded servers in `DATA_DIR` are used, if `requirements/local.txt` is
installed. `make run` starts them, and restarts one that ends; commands only connect (to start them yourself: `python
-m adapters.embedded start|stop|status DATA_DIR`). The service logs in there as `finderfee_login`, a role without
privileges of its own; the owner's password is in `DATA_DIR/owner.pgpass`. With your own servers the same commands use
yours: `make run` does not stop them, `make test` creates its own databases on your PostgreSQL (its broker is always a
private one).
"""


def page() -> str:
    """Return the page in Markdown: a table per concern."""
    return "\n".join([_HEAD, *(_section(name, concern) for name, concern in get_type_hints(Settings).items())])


def _section(name: str, concern: type[Concern]) -> str:
    title, about = name.replace("_", " ").capitalize(), concern.__doc__ or ""
    variables = concern.variables()
    rows = (f"| `{variable.name}` | {_default(variable)} | {variable.meaning} |" for variable in variables)
    lines = [f"## {title}", "", about, "", "| Variable | Default | Meaning |", "|---|---|---|", *rows, ""]
    for variable in variables:
        if isinstance(variable, NamedValues):
            lines += [f"Names in `{variable.name}`:", "", "| Name | Default | Meaning |", "|---|---|---|"]
            lines += (
                f"| `{key}` | {_member_default(variable, key)} | {member.meaning} |"
                for key, member in variable.members.items()
            )
            lines.append("")
    return "\n".join(lines)


def _member_default(variable: NamedValues[Any], key: str) -> str:
    default = variable.members[key].default
    if default is None:
        return f"`{DEFAULT}`" if DEFAULT in variable.members else "its own"
    return f"`{default}`"


def _default(variable: Variable[Any] | NamedValues[Any]) -> str:
    if isinstance(variable, NamedValues):
        return "below"
    if variable.default_text:
        return variable.default_text
    default = variable.default
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    if default in (None, (), MISSING):
        return "none"
    return f"`{','.join(map(str, default)) if isinstance(default, tuple) else default}`"


if __name__ == "__main__":
    sys.stdout.write(page())
