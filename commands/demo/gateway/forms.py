"""What a call of stripe's API brings, field by field, and the refusal of what it does not take."""

import re
from collections.abc import Mapping

#: Fields of the query or of the form; of a name that ends in [] there may be several.
Fields = Mapping[str, list[str]]

_MOST_CENTS = 99_999_999
_CURRENCY = re.compile(r"[a-z]{3}")
_METADATA = re.compile(r"metadata\[(.{1,40})\]", re.DOTALL)
_LONGEST_VALUE = 500


class InvalidField(Exception):
    """A call that cannot be done: its message is for whoever called, `param` the field at fault."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def one(fields: Fields, name: str) -> str | None:
    """Return a field's text; None where it is empty or not there."""
    value = fields.get(name, [""])[0].strip()
    if len(value) > _LONGEST_VALUE:
        raise InvalidField(f"{name} has more than {_LONGEST_VALUE} characters.", name)
    return value or None


def text(fields: Fields, name: str) -> str:
    """Return the text of a field that has to be there."""
    value = one(fields, name)
    if value is None:
        raise InvalidField(f"{name} is missing.", name)
    return value


def whole(fields: Fields, name: str, *, most: int) -> int:
    """Return a number from 1 to `most`."""
    value = text(fields, name)
    if not (value.isascii() and value.isdigit()) or not 1 <= int(value) <= most:
        raise InvalidField(f"{name} is a whole number, from 1 to {most}.", name)
    return int(value)


def cents(fields: Fields, name: str) -> int:
    """Return an amount in minor units."""
    return whole(fields, name, most=_MOST_CENTS)


def currency(fields: Fields, name: str) -> str:
    """Return the three letters of a currency, small."""
    value = text(fields, name).lower()
    if not _CURRENCY.fullmatch(value):
        raise InvalidField("The currency is three letters.", name)
    return value


def metadata(fields: Fields) -> dict[str, str]:
    """Return what was said under names of the caller's own."""
    named = ((found[1], name) for name in fields if (found := _METADATA.fullmatch(name)))
    return {key: value for key, name in named if (value := one(fields, name)) is not None}
