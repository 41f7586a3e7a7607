"""Fields, files and faults of rows in words for people."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from domain.imports.verdicts import to_sentence
from domain.switches.sources import Collection

#: What a file of a collection is a list of.
FILE_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Collection.Affiliates: "affiliates",
        Collection.Links: "links",
        Collection.Codes: "coupon codes",
        Collection.Customers: "customers",
        Collection.Commissions: "commissions",
        "figures": "totals to compare",
    }
)
#: Fields of files, as parts of a sentence.
FIELD_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "id": "id",
        "email": "email",
        "fullName": "full name",
        "firstName": "first name",
        "lastName": "last name",
        "status": "status",
        "token": "link code",
        "walletEmail": "PayPal or wallet email",
        "group": "group",
        "campaign": "campaign",
        "parameter": "name of the link parameter",
        "affiliateId": "affiliate's id",
        "affiliateEmail": "affiliate's email",
        "code": "coupon code",
        "customerId": "customer id",
        "subscriptionId": "subscription id",
        "customerEmail": "customer's email",
        "name": "name",
        "firstPaidAt": "date of the first payment",
        "payments": "number of payments",
        "orderId": "order id",
        "amount": "sale amount",
        "amountCents": "sale amount in cents",
        "commission": "commission",
        "commissionCents": "commission in cents",
        "currency": "currency",
        "occurredAt": "date of the sale",
        "state": "status",
        "refunded": "refunded amount",
        "of": "affiliate's email",
        "cents": "total in cents",
    }
)
_UNITS: Final = "with decimals, such as 9.80, or in cents, not both"
# Fields of which a file needs any, or one.
_CHOICES: Final[Mapping[tuple[str, ...], str]] = MappingProxyType(
    {
        ("affiliateId", "affiliateEmail", "token"): "the affiliate ({files}): their id, email or link code",
        ("affiliateId", "affiliateEmail"): "the affiliate ({files}): their id or email",
        ("amount", "amountCents"): f"the sale amount ({{files}}): {_UNITS}",
        ("commission", "commissionCents"): f"the commission ({{files}}): {_UNITS}",
    }
)
_FAULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "Its {name} is missing.",
        "long": "Its {name} is too long.",
        "characters": "Its {name} is too long, or has characters that no address has.",
        "time": "Its {name} cannot be read. Write it as YYYY-MM-DD, or in ISO 8601 with the time.",
        "thousands": "Its {name} has separators of thousands. Write it without them, such as 1020.50.",
        "comma": "Its {name} has a comma. In a file with commas between the columns write decimals with a point.",
        "number": "Its {name} is not a plain number, such as 9.80.",
        "whole": "Its {name} is not a whole number.",
    }
)


def describe_choice(collection: str, fields: tuple[str, ...]) -> str:
    """Return what a file of a collection needs a column for."""
    files = FILE_TEXTS[collection]
    return _CHOICES.get(fields, f"the {FIELD_TEXTS[fields[0]]} ({{files}})").format(files=files)


def explain(code: str) -> str:
    """Return the sentence of the code of a BadRow."""
    if code == "nul_character":
        return "It has a NUL character."
    fault, _, field = code.partition(":")
    return _FAULTS[fault].format(name=FIELD_TEXTS[field]) if field else to_sentence(code)
