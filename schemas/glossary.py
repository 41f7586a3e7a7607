"""What each word on the wire means: `glossary.txt`, read once, when the interface is first described.

One word means one thing wherever it stands, so it is explained once; a record in which it means something else has a
line of its own.
"""

import functools
import json
from importlib import resources
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A sentence for people, and an example (`...` where the type says enough)."""

    sentence: str
    example: Any


def entry(owner: str, name: str) -> Entry | None:
    """Return what `name` means in `owner` (a record, a query or `path`); None when nobody has written it down."""
    return entries().get(f"{owner}.{name}") or entries().get(name)


@functools.cache
def entries() -> dict[str, Entry]:
    """Return the whole glossary by name. Raises ValueError for a name that stands there twice."""
    found: dict[str, Entry] = {}
    for line in resources.files("schemas").joinpath("glossary.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, example, sentence = (part.strip() for part in line.split("|", 2))
            if name in found:
                raise ValueError(f"{name} stands twice in schemas/glossary.txt")
            found[name] = Entry(sentence, json.loads(example) if example else ...)
    return found
