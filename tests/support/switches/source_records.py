"""Rows of a source, understood: each with the usual values of its class, unless a test gives others."""

from typing import Any

from domain.statuses import AffiliateStatus
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    SourceAffiliate,
    SourceCommission,
    SourceCustomer,
    SourceLink,
)
from tests.support.switches.scene import days_ago


def build_affiliate(source_id: str, **fields: Any) -> SourceAffiliate:
    """Return an approved affiliate of the campaign `main`, with an email like the id."""
    values: dict[str, Any] = {
        "source_id": source_id,
        "campaign": "main",
        "email": f"{source_id}@example.com",
        "full_name": source_id.title(),
        "status": AffiliateStatus.Approved,
        "word": "active",
    }
    return SourceAffiliate(**values | fields)


def build_link(source_id: str, token: str, *, affiliate: str = "ann", **fields: Any) -> SourceLink:
    """Return a link of an affiliate."""
    return SourceLink(source_id, AffiliateRef(id=affiliate), token, **fields)


def build_customer(source_id: str, **fields: Any) -> SourceCustomer:
    """Return a customer of ann's, without any name or payment."""
    values: dict[str, Any] = {"source_id": source_id, "affiliate": AffiliateRef(id="ann"), "campaign": "main"}
    return SourceCustomer(**values | fields)


def build_commission(source_id: str, affiliate: str | AffiliateRef | None = "ann", **fields: Any) -> SourceCommission:
    """Return a paid commission of 20.00 USD for a sale of 100.00; `affiliate` is their source id or how it is named."""
    values: dict[str, Any] = {
        "source_id": source_id,
        "affiliate": AffiliateRef(id=affiliate) if isinstance(affiliate, str) else affiliate,
        "campaign": "main",
        "kind": CommissionKind.Paid,
        "word": "paid",
        "currency": "USD",
        "amount_cents": 10_000,
        "commission_cents": 2_000,
        "occurred_at": days_ago(10),
    }
    return SourceCommission(**values | fields)
