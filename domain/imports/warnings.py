"""Warnings of an import: changed values of rows that are imported."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "equal_row": (
            "It is equal to row {value}. Equal rows without an externalId count as separate sales: both are imported."
        ),
        "self_referral": "The customer's email address is the affiliate's own.",
        "self_referral_held": (
            "The customer's email address is the affiliate's own. It waits for a Manager's approval before it is paid."
        ),
        "self_referral_denied": "The customer's email address is the affiliate's own. It is denied and earns nothing.",
        "slug_invalid": (
            "{value} cannot be a slug here. The new slug is {replacement}: replace links that contain {value}."
        ),
        "slug_is_alias": (
            "{value} cannot be a main slug here. The new one is {replacement}; {value} still works as an alias."
        ),
        "slug_reserved": (
            "The slug {value} is reserved. The new slug is {replacement}: replace links that contain {value}."
        ),
        "slug_taken": (
            "The slug {value} belongs to another affiliate, whom its links credit. The new slug is {replacement}."
        ),
        "unknown_status": "The status {value} is unknown. The affiliate is {replacement}.",
        "invalid_wallet_email": "Its walletEmail is not an email address. It is left out.",
    }
)

#: The codes of warnings, in the order of the sentences above.
CODES: tuple[str, ...] = tuple(_SENTENCES)

_MAX_VALUE_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class RowWarning:
    """A changed value of a row: `value` is the one in the row, `replacement` the one that is imported."""

    code: str
    value: str | None = None
    replacement: str | None = None

    @property
    def message(self) -> str:
        """Return the warning as a sentence."""
        return _SENTENCES[self.code].format(value=shorten(self.value), replacement=self.replacement)


def shorten(value: str | None) -> str | None:
    """Return a value cut to 100 characters, for a sentence."""
    if value is None or len(value) <= _MAX_VALUE_CHARACTERS:
        return value
    return f"{value[:_MAX_VALUE_CHARACTERS]}…"
