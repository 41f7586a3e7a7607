"""The fields that are read in each platform, from its adapter: `docs/connections.md` has the same table.

`python -m commands.platforms.catalogue` prints the table of the page.
"""

import sys
from collections.abc import Mapping

from adapters.platforms import registry
from adapters.platforms.base import PlatformAdapter

COLUMNS = ("platform", "credentials", "custom fields", "then")


def build_rows() -> list[Mapping[str, str]]:
    """Return a row for each platform, by the names of COLUMNS."""
    return [_build_row(adapter) for adapter in registry.all_of_them()]


def render_table() -> str:
    """Return the rows as a table of the page, in Markdown."""
    lines = [f"| {' | '.join(name.capitalize() for name in COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    lines += [f"| {' | '.join(row[name] for name in COLUMNS)} |" for row in build_rows()]
    return "\n".join(lines) + "\n"


def _build_row(adapter: PlatformAdapter) -> Mapping[str, str]:
    return {
        "platform": f"{adapter.label} ({adapter.name})",
        "credentials": ", ".join(field.name for field in adapter.fields),
        "custom fields": ", ".join(adapter.slugs.fields),
        "then": ", ".join(adapter.slugs.beside) or "nothing",
    }


if __name__ == "__main__":
    sys.stdout.write(render_table())
