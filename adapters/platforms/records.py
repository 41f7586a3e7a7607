"""Reads what the platforms' records of people have in common."""

from collections.abc import Iterable, Mapping
from typing import Any

from adapters.gateways import shapes

_MARKS = ("utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "utm_channel")


def whose(people: Iterable[Any], email: str, name: str) -> Mapping[str, Any] | None:
    """Return the first of these people whose email, under this name, is the one that was asked for, in any case."""
    wanted = email.strip().casefold()
    return next((person for person in people if (shapes.text(person, name) or "").casefold() == wanted), None)


def tags(person: Any) -> tuple[str, ...]:
    """Return a person's tags, which are texts or objects with a name."""
    told = shapes.at(person, "tags")
    if not isinstance(told, list):
        return ()
    found = (shapes.text(tag, "name") if isinstance(tag, Mapping) else shapes.text(tag) for tag in told)
    return tuple(text for text in found if text)


def marks(told: Any) -> Mapping[str, str]:
    """Return the utm fields of an object, by name."""
    return {name: text for name in _MARKS if (text := shapes.text(told, name))}


def texts(told: Any, *names: str) -> tuple[str, ...]:
    """Return those of these fields that say something."""
    return tuple(text for name in names if (text := shapes.text(told, name)))
