"""The meaning of each field of the API: `glossary.txt`, loaded once, for the API's description.

A name has one meaning wherever it occurs, so it is explained once; a record in which it differs has a line of its own.
"""

import functools
import json
from importlib import resources
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A sentence for people, and an example (`...` for one made from the type)."""

    sentence: str
    example: Any


def entry(owner: str, name: str) -> Entry | None:
    """Return the entry of `name` in `owner` (a record, a query or `path`); None without one."""
    return entries().get(f"{owner}.{name}") or entries().get(name)


@functools.cache
def entries() -> dict[str, Entry]:
    """Return the whole glossary by name. Raises ValueError for a repeated name."""
    by_name: dict[str, Entry] = {}
    for line in resources.files("schemas").joinpath("glossary.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, example, sentence = (part.strip() for part in line.split("|", 2))
            if name in by_name:
                raise ValueError(f"{name} occurs twice in schemas/glossary.txt")
            by_name[name] = Entry(sentence, json.loads(example) if example else ...)
    return by_name
