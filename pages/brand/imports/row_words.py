"""The reasons and warnings of imported rows in words for people: our field names become those of the columns form."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "affiliateEmail": "the affiliate's email",
        "affiliateSlug": "the affiliate's link name",
        "amountCents": "sale amount in cents",
        "commissionCents": "commission in cents",
        "externalId": "order or transaction id",
        "occurredAt": "date of the sale",
        "walletEmail": "PayPal or wallet email",
    }
)
_FIELD = re.compile(rf"\b({'|'.join(_WORDS)})\b")


def name_fields(sentence: str) -> str:
    """Return the API's sentence about a row with its field names in words."""
    return _FIELD.sub(lambda match: _WORDS[match[0]], sentence)
