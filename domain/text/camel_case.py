"""Names in camelCase, as the API and events write them."""

import functools


@functools.cache
def camel_case(name: str) -> str:
    """Return a snake_case name in camelCase."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
