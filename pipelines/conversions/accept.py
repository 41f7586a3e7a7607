"""A posted sale is accepted once and queued; a worker settles it.

Source: tracking spec, "Server-to-server sale body", "Server-to-server sale" and section 7 "Errors".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails, statuses
from domain.attribution import Facts, NamedAffiliate, Referral
from domain.conversions import customers
from domain.refusals import Refused
from models import ids
from models.conversions import sales
from models.conversions.sales import Sale, SaleReferral
from models.jobs import reviving
from pipelines.conversions import credit

#: The source of signed sales.
SOURCE = "s2s"

# Between the two statements somebody may have let the affiliate or the campaign earn again.
_TRIES = 2


@dataclass(frozen=True, slots=True)
class SaleReceipt:
    """What became of a posted sale: a new conversion id, a known sale (no id), or a refusal that left a row."""

    conversion_id: UUID | None = None
    refusal: Refused | None = None


def sale(*, organization_id: UUID, posted: Mapping[str, Any], is_test: bool, now: datetime) -> SaleReceipt:
    """Accept a validated sale once, count its customer's payment and queue its settlement (`settle.sale`).

    `posted` is `schemas.conversions.sale.SaleBody` loaded. Idempotent per organization and external event id, for ever;
    a known sale is recognised before anything about its affiliate is asked, so a retry never turns into an error. What
    a known sale still waits for is asked for again if its job died or was discarded (`models.jobs.reviving`).
    An affiliate who is not Approved: the receipt has the refusal 400 affiliate_not_active, and what was written (a row
    that lists the sale as uncredited) is to be committed.
    Raises Refused: 400 affiliate_not_found, no_active_program, not_a_sale_campaign; 503 where campaign or affiliate
    change faster than they can be asked.
    Budget: 1 round trip with the commit in a unit of work that is for this alone (`is_single`), else 2; 2 more for
    what is not accepted (look up; commit).
    """
    accepted = _accepted(organization_id, posted, is_test, now)
    customer = customers.names(customer_id=posted["customer_id"], email=posted["customer_email"], is_test=is_test)
    for _ in range(_TRIES):
        if sales.accept(accepted, customer, slug=posted["affiliate_slug"]):
            return SaleReceipt(conversion_id=accepted.id)
        referral = sales.look_up(
            organization_id=organization_id,
            external_event_id=posted["external_event_id"],
            slug=posted["affiliate_slug"],
        )
        if referral.known_sale_id == accepted.id:  # its answer was lost with the connection, and it came again
            return SaleReceipt(conversion_id=accepted.id)
        if referral.known_sale_id is not None:
            reviving.stage_of_sale(organization_id=organization_id, sale_id=referral.known_sale_id)
            return SaleReceipt()
        _refuse_what_cannot_sell(referral)
        if referral.affiliate_status != statuses.AffiliateStatus.Approved:
            return _uncredited(organization_id, posted, referral, is_test, now)
    raise Refused(503, "temporarily_unavailable", "The campaign is just being changed. Repeat the same request.")


def _refuse_what_cannot_sell(referral: SaleReferral) -> None:
    if referral.affiliate_id is None:
        raise Refused(
            400,
            "affiliate_not_found",
            "affiliateSlug matches no tracking link of this organization.",
            field="affiliateSlug",
        )
    if not referral.is_program_open:
        raise Refused(400, "no_active_program", "The affiliate's campaign is inactive, archived or suspended.")
    if not statuses.pays_on_sale(referral.commission_model or "") and not referral.has_sale_leg:
        raise Refused(
            400, "not_a_sale_campaign", "The affiliate's campaign pays for clicks or leads and has no sale commission."
        )


def _uncredited(
    organization_id: UUID, posted: Mapping[str, Any], referral: SaleReferral, is_test: bool, now: datetime
) -> SaleReceipt:
    assert referral.program_id is not None
    assert referral.affiliate_id is not None
    named = NamedAffiliate(referral.affiliate_id, referral.affiliate_status or "")
    payment = credit.Payment(
        organization_id=organization_id,
        source=SOURCE,
        external_event_id=posted["external_event_id"],
        amount_cents=posted["amount_cents"],
        currency=posted["currency"],
        is_test=is_test,
        occurred_at=now,
    )
    decision = credit.decide(Facts(paid_at=now, referral=Referral(named, method=None)))
    credit.stage_uncredited(payment, decision, program_id=referral.program_id)
    message = f"The affiliate is {referral.affiliate_status}, not Approved; the sale is listed as uncredited."
    return SaleReceipt(refusal=Refused(400, "affiliate_not_active", message, field="affiliateSlug"))


def _accepted(organization_id: UUID, posted: Mapping[str, Any], is_test: bool, now: datetime) -> Sale:
    return Sale(
        id=ids.new_id(),
        organization_id=organization_id,
        external_event_id=posted["external_event_id"],
        amount_cents=posted["amount_cents"],
        currency=posted["currency"],
        customer_id=posted["customer_id"],
        customer_name=posted["customer_name"],
        customer_email=posted["customer_email"],
        email_normalized=emails.normalize(posted["customer_email"]) if posted["customer_email"] else None,
        customer_avatar_url=posted["customer_avatar_url"],
        sub_id=posted["sub_id"],
        is_test=is_test,
        accepted_at=now,
    )
