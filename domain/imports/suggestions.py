"""Suggests what a file of another service is: a known export, or by the usual names of columns; a person decides."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from domain.imports import known_exports
from domain.imports.files import Kind
from domain.imports.known_exports import SALE_STATES

# Names of columns by our fields, without anything but letters and digits. The first that a file has counts.
_PERSON_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "email": ("email", "emailaddress", "affiliateemail", "partneremail"),
    "fullName": ("fullname", "name", "affiliatename", "partnername"),
    "firstName": ("firstname",),
    "lastName": ("lastname", "surname"),
    "status": ("status", "state", "affiliatestatus"),
    "walletEmail": ("walletemail", "paypalemail", "paymentemail", "paypal", "payoutemail"),
    "slug": ("slug", "token", "refid", "custref", "referralcode", "reftoken", "affiliatecode", "code", "username"),
}
_SALE_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "affiliateEmail": ("affiliateemail", "partneremail", "promoteremail", "email"),
    "affiliateSlug": ("affiliateslug", "referralcode", "affiliatecode", "reftoken", "refid", "token", "slug"),
    "amountCents": ("amountcents", "saleamountcents"),
    "amount": ("saleamount", "orderamount", "orderprice", "ordertotal", "totalcost", "total", "revenue", "amount"),
    "commissionCents": ("commissioncents", "earningscents"),
    "commission": ("commission", "commissionamount", "commissions", "payout", "earnings", "reward"),
    "currency": ("currency", "currencycode"),
    "occurredAt": (
        *("occurredat", "createdat", "chargedat", "conversiondate", "actiondate", "dateinserted", "orderdate"),
        *("dateoftrans", "date", "created"),
    ),
    "paid": ("paid", "commissionstatus", "payoutstatus", "status", "state"),
    "customerEmail": ("customeremail", "leademail", "buyeremail"),
    "customerName": ("customername", "buyername"),
    "processorCustomerId": ("processorcustomerid", "stripecustomerid", "customerid"),
    "processorSubscriptionId": ("processorsubscriptionid", "subscriptionid"),
    "externalId": ("externalid", "transactionid", "transid", "orderid", "actionid", "reference", "id"),
}
# Fields of which a file has one.
_UNITS: Final = (("amountCents", "amount"), ("commissionCents", "commission"))
#: Columns that only a list of sales has.
_OF_SALES: Final = frozenset({"amount", "amountCents", "commission", "commissionCents"})
_PERSON_WORDS: Final = {
    **dict.fromkeys(("active", "approved", "accepted"), "Approved"),
    **dict.fromkeys(("pending", "new", "applied", "invited"), "Pending"),
    **dict.fromkeys(("inactive", "disabled", "paused", "suspended", "archived"), "Paused"),
    **dict.fromkeys(("rejected", "denied", "declined"), "Rejected"),
    **dict.fromkeys(("banned", "blocked", "suspicious"), "Banned"),
}
_STATES: Final = {
    **dict.fromkeys(("paid", "true", "yes", "1", "completed"), "paid"),
    **dict.fromkeys(("unpaid", "due", "approved", "open", "false", "no", "0"), "owed"),
    "pending": "pending",
    **dict.fromkeys(
        ("rejected", "voided", "void", "denied", "declined", "refunded", "reversed", "cancelled", "canceled"), "lost"
    ),
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a file probably is: its kind, our fields with its columns, our words for its words (in lower case).

    `service` names the known export; None where the columns were only guessed. `source` is its name in the method of
    conversions.
    """

    kind: Kind
    columns: Mapping[str, str]
    words: Mapping[str, str]
    service: str | None = None
    source: str | None = None


def suggest(header: Sequence[str]) -> Suggestion:
    """Return what a file with these columns probably is."""
    export = known_exports.find_export(header)
    if export is not None:
        columns = known_exports.find_columns(export.columns, header)
        if export.is_partial:
            columns = guess_columns(export.kind, header, columns)
        return Suggestion(
            export.kind, columns, _to_import_words(export.kind, export.words), export.service, export.source
        )
    sale = guess_columns("Conversions", header)
    kind: Kind = "Conversions" if _OF_SALES & sale.keys() else "Affiliates"
    return Suggestion(
        kind, guess_columns(kind, header), _to_import_words(kind, _PERSON_WORDS if kind == "Affiliates" else _STATES)
    )


def guess_columns(kind: Kind, header: Sequence[str], known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return our fields of a kind with the columns that probably hold them; each column is used once.

    `known` are fields whose columns are known.
    """
    return guess(_SALE_NAMES if kind == "Conversions" else _PERSON_NAMES, header, known)


def guess(
    names: Mapping[str, Sequence[str]], header: Sequence[str], known: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return fields with the columns that probably hold them, by the usual `names` of each (letters and digits)."""
    left = {re.sub("[^a-z0-9]", "", name.lower()): name for name in reversed(header) if name not in known.values()}
    guessed = dict(known)
    for field, candidates in names.items():
        unit = next((unit for unit in _UNITS if field in unit), (field,))
        match = next((name for name in candidates if name in left), None)
        if match is not None and not guessed.keys() & set(unit):
            guessed[field] = left.pop(match)
    return guessed


def guess_word(kind: Kind, word: str) -> str | None:
    """Return our word for a word of another service, if it is a usual one."""
    ours = (_PERSON_WORDS if kind == "Affiliates" else _STATES).get(word.strip().casefold())
    return SALE_STATES[ours] if ours and kind == "Conversions" else ours


def guess_state(word: str) -> str | None:
    """Return what the state of a commission elsewhere probably means, one of SALE_STATES."""
    return _STATES.get(word.strip().casefold())


def _to_import_words(kind: Kind, words: Mapping[str, str]) -> Mapping[str, str]:
    return words if kind == "Affiliates" else {theirs: SALE_STATES[ours] for theirs, ours in words.items()}
