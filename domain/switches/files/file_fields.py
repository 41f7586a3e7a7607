"""The fields of source files by collection, which of them are needed, and what a mapping of columns lacks.

Source: the switch-over rules, "Routes" (source files).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from domain.imports.column_mapping import NAME_PARTS
from domain.imports.known_exports import SALE_STATES
from domain.statuses import AffiliateStatus
from domain.switches.files import field_texts
from domain.switches.sources import Collection

#: Totals that the old system states, to be compared with what was read.
FIGURES: Final = "figures"
#: Parts of a collection are numbered from 1.
MAX_PARTS: Final = 64
MAX_PART_BYTES: Final = 16 * 1024 * 1024
#: More than a part of 16 MiB has of rows that say anything.
MAX_PART_ROWS: Final = 500_000

#: What names the affiliate of a row: the first of these that is mapped and filled.
WHO: Final = ("affiliateId", "affiliateEmail", "token")
#: The fields of each collection that a file can have.
FIELDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        Collection.Affiliates: (
            *("id", "email", "fullName", *NAME_PARTS, "status", "token", "walletEmail", "group", "campaign"),
        ),
        Collection.Links: ("affiliateId", "affiliateEmail", "token", "parameter"),
        Collection.Codes: (*WHO, "code"),
        Collection.Customers: (
            *("id", *WHO, "customerId", "subscriptionId", "email", "name", "firstPaidAt", "payments"),
        ),
        Collection.Commissions: (
            *("id", *WHO, "customerId", "subscriptionId", "customerEmail", "orderId", "amount", "amountCents"),
            *("commission", "commissionCents", "currency", "occurredAt", "state", "refunded"),
        ),
        FIGURES: ("name", "of", "currency", "cents"),
    }
)
#: The fields that a collection needs, each with those that may stand for it.
NEEDED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {
        Collection.Affiliates: (("email",),),
        Collection.Links: (("affiliateId", "affiliateEmail"), ("token",)),
        Collection.Codes: (WHO, ("code",)),
        Collection.Customers: (WHO,),
        Collection.Commissions: (WHO, ("commission", "commissionCents"), ("occurredAt",)),
        FIGURES: (("name",), ("cents",)),
    }
)
#: What the words of a file can mean, by collection.
WORDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        Collection.Affiliates: tuple(status.value for status in AffiliateStatus),
        Collection.Commissions: tuple(SALE_STATES),
    }
)
#: The field whose words have a meaning.
WORD_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {Collection.Affiliates: "status", Collection.Commissions: "state"}
)
#: What the rows of a file without a column of states mean, and affiliates whose cell is empty, until the brand says so.
WITHOUT_WORD: Final[Mapping[str, str]] = MappingProxyType(
    {Collection.Affiliates: AffiliateStatus.Approved.value, Collection.Commissions: "paid"}
)
#: Fields of one amount in two units: a file has a column for one of them.
UNITS: Final = (("amount", "amountCents"), ("commission", "commissionCents"))
#: The fields of a link in a row of affiliates.
_LINK_FIELDS: Final = {"affiliateId": "id", "affiliateEmail": "email", "token": "token", "campaign": "campaign"}


@dataclass(frozen=True, slots=True)
class MissingColumn:
    """What a mapping lacks: any of `fields`, or, if a part has not exactly one column of this `heading`, another one.

    Parts are numbered from 1. Without a heading and a part, the field is not mapped, or is mapped in two units.
    """

    collection: str
    fields: tuple[str, ...]
    part: int | None = None
    heading: str | None = None

    @property
    def message(self) -> str:
        """The gap as a sentence."""
        if self.heading is None:
            return f"Choose one column for {field_texts.describe_choice(self.collection, self.fields)}."
        name, files = field_texts.FIELD_TEXTS[self.fields[0]], field_texts.FILE_TEXTS[self.collection]
        return f"Part {self.part} of {files} needs exactly one column {self.heading[:40]!r}, for the {name}."


def normalize_heading(heading: str) -> str:
    """Return the form in which headings are compared."""
    return heading.strip().casefold()


def link_columns(columns: Mapping[str, str], *, has_id: bool = False) -> dict[str, str]:
    """Return the columns of the links that rows of affiliates name, from those of affiliates.

    With `has_id` the id of the affiliate is the token.
    """
    fields = _LINK_FIELDS | ({"token": "id"} if has_id else {})
    return {ours: columns[theirs] for ours, theirs in fields.items() if theirs in columns}


def missing_fields(
    columns: Mapping[str, Mapping[str, str]], headers: Mapping[str, Mapping[int, Sequence[str]]]
) -> list[MissingColumn]:
    """Return what a mapping lacks for the files that are there: by collection and part, their headers.

    Each part must have each mapped column once, also of a field that is not needed: otherwise a part without a header
    would lose its values unnoticed.
    """
    missing: list[MissingColumn] = []
    for collection, parts in headers.items():
        mapped = columns.get(collection, {})
        missing += [
            MissingColumn(collection, fields) for fields in NEEDED[collection] if not any(map(mapped.get, fields))
        ]
        missing += [MissingColumn(collection, fields) for fields in UNITS if all(map(mapped.get, fields))]
        for part, header in parts.items():
            headings = [normalize_heading(heading) for heading in header]
            missing += [
                MissingColumn(collection, (field,), part, heading)
                for field, heading in mapped.items()
                if headings.count(normalize_heading(heading)) != 1
            ]
    return missing


def needs_currency(columns: Mapping[str, Mapping[str, str]], collections: Sequence[str], currency: str | None) -> bool:
    """Return whether the amounts of the files that are there have no currency. `currency` is the option."""
    is_named = currency is not None or bool(columns.get(Collection.Commissions, {}).get("currency"))
    return Collection.Commissions in collections and not is_named


def find_unknown(columns: Mapping[str, Mapping[str, str]], words: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return a sentence about the first name in a mapping that is unknown here, None without one."""
    for collection, mapped in columns.items():
        if collection not in FIELDS:
            return f"{collection[:40]!r} is no collection of files. Collections are: {', '.join(FIELDS)}."
        if unknown := [field for field in mapped if field not in FIELDS[collection]]:
            return f"{unknown[0][:40]!r} is no field of {collection}. Fields are: {', '.join(FIELDS[collection])}."
    for collection, meanings in words.items():
        if collection not in WORDS:
            return f"Words of {collection[:40]!r} have no meaning. Collections are: {', '.join(WORDS)}."
        if unknown := [ours for ours in meanings.values() if ours not in WORDS[collection]]:
            return f"{unknown[0][:40]!r} is unknown. Words can mean: {', '.join(WORDS[collection])}."
    return None
