"""Reads the fields that the records of people have at all platforms."""

from collections.abc import Iterable, Mapping
from typing import Any

from adapters.gateways import shapes

_MARKS = ("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "utm_channel")


def find_by_email(people: Iterable[Any], email: str, name: str) -> Mapping[str, Any] | None:
    """Return the first of these people with this email, in any case, under this name."""
    address = email.strip().casefold()
    return next((person for person in people if (shapes.text(person, name) or "").casefold() == address), None)


def tags(person: Any) -> tuple[str, ...]:
    """Return a person's tags, which are texts or objects with a name."""
    tags_of_person = shapes.get(person, "tags")
    if not isinstance(tags_of_person, list):
        return ()
    names = (shapes.text(tag, "name") if isinstance(tag, Mapping) else shapes.text(tag) for tag in tags_of_person)
    return tuple(name for name in names if name)


def marks(holder: Any) -> Mapping[str, str]:
    """Return the utm fields of an object, by name."""
    return {name: text for name in _MARKS if (text := shapes.text(holder, name))}


def texts(holder: Any, *names: str) -> tuple[str, ...]:
    """Return the texts of these fields, without those that are empty."""
    return tuple(text for name in names if (text := shapes.text(holder, name)))
