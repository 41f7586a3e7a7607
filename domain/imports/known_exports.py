"""Exports of other services by their column names. Only names that were found in public material are listed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from domain.imports.column_mapping import LEAVE_OUT, PAID, UNPAID
from domain.imports.files import Kind

#: What the state of a commission elsewhere can mean, and the word of it in an import.
SALE_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {"paid": PAID, "owed": UNPAID, "pending": UNPAID, "held": UNPAID, "lost": LEAVE_OUT}
)


@dataclass(frozen=True, slots=True)
class KnownExport:
    """An export: the columns without which it is another file, and the mapping of its columns and words.

    `columns` are by the fields of an import, `more_columns` by those that only a switch has: of a field with several
    columns the first that a file has counts. `words` of sales mean one of SALE_STATES. With `is_partial` other columns
    exist whose names are unknown. `parameter` is that of the service's links; with `has_id_links` they may have the
    affiliate's id in place of the token.
    """

    service: str
    kind: Kind
    needs: frozenset[str]
    columns: Mapping[str, str | tuple[str, ...]]
    words: Mapping[str, str]
    more_columns: Mapping[str, str | tuple[str, ...]]
    parameter: str | None
    is_partial: bool
    has_id_links: bool

    @property
    def source(self) -> str:
        """The name of the service in the method of conversions."""
        return re.sub("[^a-z0-9]", "", self.service.lower())


def _export(
    service: str,
    kind: Kind,
    needs: str,
    columns: Mapping[str, str | tuple[str, ...]],
    words: Mapping[str, str] = MappingProxyType({}),
    *,
    more: Mapping[str, str | tuple[str, ...]] = MappingProxyType({}),
    parameter: str | None = None,
    is_partial: bool = False,
    has_id_links: bool = False,
) -> KnownExport:
    names = frozenset(needs.casefold().split("|"))
    return KnownExport(service, kind, names, columns, words, more, parameter, is_partial, has_id_links)


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
        parameter="via",
    ),
    *(
        _export("FirstPromoter", "Affiliates", f"email|{slug}", {"email": "email", "slug": slug}, parameter="fpr")
        for slug in ("ref_id", "cust_ref")
    ),
    _export(
        "Tapfiliate",
        "Affiliates",
        "email|referral_code",
        {"email": "email", "slug": "referral_code"},
        parameter="ref",
    ),
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
        {"approved": "owed", "pending": "pending", "paid": "paid", "disapproved": "lost"},
        # One order may have several commissions.
        more={"orderId": "external_id"},
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
        more={"id": "Affiliate ID"},
        # Its links are ?ref=<id> unless a brand chose the username; both work there.
        parameter="ref",
        has_id_links=True,
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
        {"paid": "paid", "unpaid": "owed", "pending": "pending", "rejected": "lost"},
        more={"affiliateId": "Affiliate ID", "orderId": "Reference"},
    ),
    _export(
        "Refersion",
        "Affiliates",
        "id|offer_id|status|email|link",
        {"email": "email", "slug": "id", "status": "status"},
        {"active": "Approved", "pending": "Pending", "denied": "Rejected", "disabled": "Paused"},
        more={"id": "id"},
        parameter="rfsn",
    ),
    _export(
        "Post Affiliate Pro",
        "Affiliates",
        "!USERID|!REFID|!DATEINSERTED",
        {"email": "!USERNAME", "slug": "!REFID"},
        more={"id": "!USERID"},
        parameter="a_aid",
    ),
    _export(
        "Post Affiliate Pro",
        "Conversions",
        "!TRANSID|!USERID|!COMMISSION|!DATEINSERTED",
        {
            "amount": "!TOTALCOST",
            "commission": "!COMMISSION",
            "occurredAt": "!DATEINSERTED",
            "paid": "!RSTATUS",
            "externalId": "!TRANSID",
        },
        # Its words are single letters, of which A (approved) does not say whether it was paid: a person decides.
        {"p": "pending", "d": "lost"},
        more={"id": "!TRANSID", "affiliateId": "!USERID", "orderId": "!ORDERID"},
    ),
    _export(
        "Impact",
        "Conversions",
        "Action Id|Action Date|Status|Sale Amount|Payout",
        {
            "amount": "Sale Amount",
            "commission": "Payout",
            "occurredAt": "Action Date",
            "paid": "Status",
            "externalId": "Action Id",
        },
        {"approved": "owed", "pending": "pending", "reversed": "lost"},
        more={"id": "Action Id"},
        is_partial=True,
    ),
    _export(
        "ShareASale",
        "Conversions",
        "TRANSID|DATEOFTRANS",
        {"occurredAt": "DATEOFTRANS", "externalId": "TRANSID"},
        {"void": "lost", "voided": "lost"},
        more={"id": "TRANSID"},
        is_partial=True,
    ),
    _export(
        "Dub",
        "Affiliates",
        "id|name|email|status|groupId",
        {"email": "email", "fullName": "name", "walletEmail": "paypalEmail", "status": "status"},
        {
            "approved": "Approved",
            **dict.fromkeys(("pending", "invited"), "Pending"),
            **dict.fromkeys(("rejected", "declined"), "Rejected"),
            **dict.fromkeys(("deactivated", "archived"), "Paused"),
            "banned": "Banned",
        },
        more={"id": "id", "group": "groupId"},
        parameter="via",
    ),
    _export(
        "Dub",
        "Conversions",
        "id|amount|earnings|currency|status|invoiceId|createdAt",
        {
            "affiliateEmail": ("partnerEmail", "partner.email"),
            # Whole cents, as in its API.
            "amountCents": "amount",
            "commissionCents": "earnings",
            "currency": "currency",
            "occurredAt": "createdAt",
            "paid": "status",
            "customerEmail": ("customerEmail", "customer.email"),
            "customerName": ("customerName", "customer.name"),
            "processorCustomerId": ("stripeCustomerId", "customer.stripeCustomerId"),
            "externalId": "id",
        },
        {
            "paid": "paid",
            "processed": "owed",
            "pending": "pending",
            **dict.fromkeys(("hold", "fraud"), "held"),
            **dict.fromkeys(("refunded", "canceled", "duplicate"), "lost"),
        },
        more={"id": "id", "affiliateId": ("partnerId", "partner.id"), "orderId": "invoiceId"},
    ),
)


def find_export(header: Sequence[str]) -> KnownExport | None:
    """Return the known export that has these columns."""
    names = {name.casefold() for name in header}
    matching = [export for export in _EXPORTS if export.needs <= names]
    return max(matching, key=lambda candidate: len(candidate.needs), default=None)


def find_columns(columns: Mapping[str, str | tuple[str, ...]], header: Sequence[str]) -> dict[str, str]:
    """Return the fields of an export whose columns a file has, with the file's own spelling of them."""
    names = {name.casefold(): name for name in reversed(header)}
    candidates = {ours: (theirs,) if isinstance(theirs, str) else theirs for ours, theirs in columns.items()}
    return {
        ours: next(names[name.casefold()] for name in theirs if name.casefold() in names)
        for ours, theirs in candidates.items()
        if any(name.casefold() in names for name in theirs)
    }
