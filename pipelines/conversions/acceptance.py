"""A posted sale is accepted once and queued; a worker settles it.

Source: tracking spec, "Server-to-server sale body", "Server-to-server sale" and section 7 "Errors".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails, slugs, statuses
from domain.attribution import Facts, NamedAffiliate, Referral
from domain.conversions import customers
from domain.refusals import Refused
from models import ids
from models.conversions import sales
from models.conversions.sales import Sale, SaleReferral
from models.jobs import sale_jobs
from pipelines.conversions import credit

#: The source of signed sales.
SOURCE = "s2s"

# Between the two statements the affiliate or the campaign may have become able to earn again.
_TRIES = 2


@dataclass(frozen=True, slots=True)
class SaleReceipt:
    """The result of a posted sale: a new conversion id, a duplicate (no id), or a refusal that wrote a row."""

    conversion_id: UUID | None = None
    refusal: Refused | None = None


def accept_sale(*, organization_id: UUID, body: Mapping[str, Any], is_test: bool, now: datetime) -> SaleReceipt:
    """Accept a validated sale once, count its customer's payment and queue its settlement (`settlement.settle_sale`).

    `body` is `schemas.conversions.sale.SaleBody` loaded. Idempotent per organization and external event id, without a
    time limit; a duplicate is recognised before its affiliate is checked, so a retry never turns into an error. If the
    job of a known, unsettled sale failed or was discarded, it is staged again (`models.jobs.sale_jobs`).
    If the affiliate is not Approved, the receipt has the refusal 400 affiliate_not_active, and the caller must commit
    the row that lists the sale as uncredited.
    Raises Refused: 400 affiliate_not_found, no_active_program, not_a_sale_campaign; 503 if campaign or affiliate change
    faster than they can be read.
    Budget: 1 round trip with the commit in a unit of work of its own (`is_single`), else 2; 2 more for a sale that is
    not accepted (look up; commit).
    """
    sale = _sale_from_body(organization_id, body, is_test, now)
    customer = customers.names(customer_id=body["customer_id"], email=body["customer_email"], is_test=is_test)
    tokens = slugs.list_spellings(body["affiliate_slug"])
    for _ in range(_TRIES):
        if sales.accept(sale, customer, slug=body["affiliate_slug"], tokens=tokens):
            return SaleReceipt(conversion_id=sale.id)
        referral = sales.look_up(
            organization_id=organization_id,
            external_event_id=body["external_event_id"],
            slug=body["affiliate_slug"],
            tokens=tokens,
        )
        if referral.known_sale_id == sale.id:  # the answer of the first try was lost with the connection
            return SaleReceipt(conversion_id=sale.id)
        if referral.known_sale_id is not None:
            sale_jobs.stage_requeue(organization_id=organization_id, sale_id=referral.known_sale_id)
            return SaleReceipt()
        _check_can_sell(referral)
        if referral.affiliate_status != statuses.AffiliateStatus.Approved:
            return _refuse_uncredited(organization_id, body, referral, is_test, now)
    raise Refused(503, "temporarily_unavailable", "The program is just being changed. Repeat the same request.")


def _check_can_sell(referral: SaleReferral) -> None:
    if referral.affiliate_id is None:
        raise Refused(
            400,
            "affiliate_not_found",
            "affiliateSlug matches no tracking link of this organization.",
            field="affiliateSlug",
        )
    if not referral.is_program_open:
        raise Refused(400, "no_active_program", "The affiliate's program is inactive, archived or suspended.")
    if not statuses.pays_on_sale(referral.commission_model or "") and not referral.has_sale_leg:
        raise Refused(
            400, "not_a_sale_campaign", "The affiliate's program pays for clicks or leads and has no sale commission."
        )


def _refuse_uncredited(
    organization_id: UUID, body: Mapping[str, Any], referral: SaleReferral, is_test: bool, now: datetime
) -> SaleReceipt:
    assert referral.program_id is not None
    assert referral.affiliate_id is not None
    affiliate = NamedAffiliate(referral.affiliate_id, referral.affiliate_status or "")
    payment = credit.Payment(
        organization_id=organization_id,
        source=SOURCE,
        external_event_id=body["external_event_id"],
        amount_cents=body["amount_cents"],
        currency=body["currency"],
        is_test=is_test,
        occurred_at=now,
    )
    decision = credit.decide(Facts(paid_at=now, referral=Referral(affiliate, method=None)))
    credit.stage_uncredited(payment, decision, program_id=referral.program_id)
    message = f"The affiliate is {referral.affiliate_status}, not Approved; the sale is listed as uncredited."
    return SaleReceipt(refusal=Refused(400, "affiliate_not_active", message, field="affiliateSlug"))


def _sale_from_body(organization_id: UUID, body: Mapping[str, Any], is_test: bool, now: datetime) -> Sale:
    return Sale(
        id=ids.new_id(),
        organization_id=organization_id,
        external_event_id=body["external_event_id"],
        amount_cents=body["amount_cents"],
        currency=body["currency"],
        customer_id=body["customer_id"],
        customer_name=body["customer_name"],
        customer_email=body["customer_email"],
        email_normalized=emails.normalize(body["customer_email"]) if body["customer_email"] else None,
        customer_avatar_url=body["customer_avatar_url"],
        sub_id=body["sub_id"],
        is_test=is_test,
        accepted_at=now,
    )
