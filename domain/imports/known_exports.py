"""Exports of other services by their column names, and suggestions for any other file.

Only names that were found in public material of a service are listed; for other files columns are suggested by their
names, and a person decides.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from domain.imports.column_mapping import LEAVE_OUT, PAID, UNPAID
from domain.imports.files import Kind


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


@dataclass(frozen=True, slots=True)
class _Export:
    """An export: the columns without which it is another file, and the mapping of its columns and words."""

    service: str
    source: str
    kind: Kind
    needs: frozenset[str]
    columns: Mapping[str, str]
    words: Mapping[str, str]


def _export(service: str, kind: Kind, needs: str, columns: Mapping[str, str], words: Mapping[str, str]) -> _Export:
    source = re.sub("[^a-z0-9]", "", service.lower())
    return _Export(service, source, kind, frozenset(needs.lower().split("|")), columns, words)


_EXPORTS: Final = (
    _export(
        "Rewardful",
        "Affiliates",
        "first_name|last_name|email|paypal_email|token",
        {
            "email": "email",
            "firstName": "first_name",
            "lastName": "last_name",
            "walletEmail": "paypal_email",
            "slug": "token",
        },
        {},
    ),
    *(
        _export("FirstPromoter", "Affiliates", f"email|{slug}", {"email": "email", "slug": slug}, {})
        for slug in ("ref_id", "cust_ref")
    ),
    _export("Tapfiliate", "Affiliates", "email|referral_code", {"email": "email", "slug": "referral_code"}, {}),
    _export(
        "Tapfiliate",
        "Conversions",
        "external_id|amount|created_at|affiliate_email|commission_status|commission_amount",
        {
            "affiliateEmail": "affiliate_email",
            "amount": "amount",
            "commission": "commission_amount",
            "currency": "currency",
            "occurredAt": "created_at",
            "paid": "commission_status",
            "processorCustomerId": "customer_id",
            "externalId": "external_id",
        },
        # Approved only means that it is on the affiliate's balance there.
        {"approved": UNPAID, "pending": UNPAID, "paid": PAID, "disapproved": LEAVE_OUT},
    ),
    _export(
        "AffiliateWP",
        "Affiliates",
        "Affiliate ID|Email|Payment Email|Username|Status|Date Registered",
        {
            "email": "Email",
            "fullName": "Name",
            "walletEmail": "Payment Email",
            "slug": "Username",
            "status": "Status",
        },
        {"active": "Approved", "inactive": "Paused", "pending": "Pending", "rejected": "Rejected"},
    ),
    _export(
        "AffiliateWP",
        "Conversions",
        "Affiliate ID|Email|Amount|Currency|Reference|Status|Date",
        {
            "affiliateEmail": "Email",
            "commission": "Amount",
            "currency": "Currency",
            "occurredAt": "Date",
            "paid": "Status",
            "externalId": "Reference",
        },
        {"paid": PAID, "unpaid": UNPAID, "pending": UNPAID, "rejected": LEAVE_OUT},
    ),
    _export(
        "Refersion",
        "Affiliates",
        "id|offer_id|status|email|link",
        {"email": "email", "slug": "id", "status": "status"},
        {"active": "Approved", "pending": "Pending", "denied": "Rejected", "disabled": "Paused"},
    ),
)

# Names of columns by our fields, without anything but letters and digits. The first that a file has counts.
_PERSON_NAMES: Final = {
    "email": ("email", "emailaddress", "affiliateemail", "partneremail"),
    "fullName": ("fullname", "name", "affiliatename", "partnername"),
    "firstName": ("firstname",),
    "lastName": ("lastname", "surname"),
    "status": ("status", "state", "affiliatestatus"),
    "walletEmail": ("walletemail", "paypalemail", "paymentemail", "paypal", "payoutemail"),
    "slug": ("slug", "token", "refid", "custref", "referralcode", "reftoken", "affiliatecode", "code", "username"),
}
_SALE_NAMES: Final = {
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
#: Columns that only a list of sales has.
_OF_SALES: Final = frozenset({"amount", "amountCents", "commission", "commissionCents"})
_COMMON_WORDS: Final[Mapping[Kind, Mapping[str, str]]] = MappingProxyType(
    {
        "Affiliates": {
            **dict.fromkeys(("active", "approved", "accepted"), "Approved"),
            **dict.fromkeys(("pending", "new", "applied", "invited"), "Pending"),
            **dict.fromkeys(("inactive", "disabled", "paused", "suspended", "archived"), "Paused"),
            **dict.fromkeys(("rejected", "denied", "declined"), "Rejected"),
            **dict.fromkeys(("banned", "blocked", "suspicious"), "Banned"),
        },
        "Conversions": {
            **dict.fromkeys(("paid", "true", "yes", "1", "completed"), PAID),
            **dict.fromkeys(("unpaid", "due", "pending", "approved", "open", "false", "no", "0"), UNPAID),
            **dict.fromkeys(
                ("rejected", "voided", "void", "denied", "declined", "refunded", "reversed", "cancelled", "canceled"),
                LEAVE_OUT,
            ),
        },
    }
)


def suggest(header: Sequence[str]) -> Suggestion:
    """Return what a file with these columns probably is."""
    names = {name.casefold(): name for name in reversed(header)}
    matching = [export for export in _EXPORTS if export.needs <= names.keys()]
    if matching:
        export = max(matching, key=lambda candidate: len(candidate.needs))
        columns = {
            ours: names[theirs.casefold()] for ours, theirs in export.columns.items() if theirs.casefold() in names
        }
        return Suggestion(export.kind, columns, export.words, export.service, export.source)
    sale = guess_columns("Conversions", header)
    kind: Kind = "Conversions" if _OF_SALES & sale.keys() else "Affiliates"
    return Suggestion(kind, guess_columns(kind, header), _COMMON_WORDS[kind])


def guess_columns(kind: Kind, header: Sequence[str]) -> dict[str, str]:
    """Return our fields of a kind with the columns that probably hold them; each column is used once."""
    left = {re.sub("[^a-z0-9]", "", name.lower()): name for name in reversed(header)}
    guessed: dict[str, str] = {}
    for field, candidates in (_SALE_NAMES if kind == "Conversions" else _PERSON_NAMES).items():
        if {"amount", "amountCents"} >= {field} and {"amount", "amountCents"} & guessed.keys():
            continue
        if {"commission", "commissionCents"} >= {field} and {"commission", "commissionCents"} & guessed.keys():
            continue
        match = next((name for name in candidates if name in left), None)
        if match is not None:
            guessed[field] = left.pop(match)
    return guessed


def guess_word(kind: Kind, word: str) -> str | None:
    """Return our word for a word of another service, if it is a usual one."""
    return _COMMON_WORDS[kind].get(word.strip().casefold())
