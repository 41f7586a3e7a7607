"""Parses the fields of a call of stripe's API; raises InvalidField for invalid ones."""

import re
from collections.abc import Mapping

#: Fields of the query or of the form; a name that ends in [] may have several values.
Fields = Mapping[str, list[str]]

_MAX_CENTS = 99_999_999
_CURRENCY = re.compile(r"[a-z]{3}")
_METADATA = re.compile(r"metadata\[(.{1,40})\]", re.DOTALL)
_MAX_VALUE_LENGTH = 500


class InvalidField(Exception):
    """An invalid call: the message is for the caller, `param` is the invalid field."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def find_text(fields: Fields, name: str) -> str | None:
    """Return a field's text; None if it is empty or missing."""
    value = fields.get(name, [""])[0].strip()
    if len(value) > _MAX_VALUE_LENGTH:
        raise InvalidField(f"{name} has more than {_MAX_VALUE_LENGTH} characters.", name)
    return value or None


def require_text(fields: Fields, name: str) -> str:
    """Return the text of a required field."""
    value = find_text(fields, name)
    if value is None:
        raise InvalidField(f"{name} is missing.", name)
    return value


def require_integer(fields: Fields, name: str, *, maximum: int) -> int:
    """Return a required integer from 1 to `maximum`."""
    value = require_text(fields, name)
    if not (value.isascii() and value.isdigit()) or not 1 <= int(value) <= maximum:
        raise InvalidField(f"{name} must be a whole number from 1 to {maximum}.", name)
    return int(value)


def require_cents(fields: Fields, name: str) -> int:
    """Return a required amount in minor units."""
    return require_integer(fields, name, maximum=_MAX_CENTS)


def require_currency(fields: Fields, name: str) -> str:
    """Return a required currency code in lower case."""
    value = require_text(fields, name).lower()
    if not _CURRENCY.fullmatch(value):
        raise InvalidField("The currency is three letters.", name)
    return value


def parse_metadata(fields: Fields) -> dict[str, str]:
    """Return the metadata: values under the caller's own keys."""
    keys = ((match[1], name) for name in fields if (match := _METADATA.fullmatch(name)))
    return {key: value for key, name in keys if (value := find_text(fields, name)) is not None}
