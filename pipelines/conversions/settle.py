"""An accepted sale becomes a priced conversion, once.

Source: tracking spec, "Server-to-server sale"; section 3 "States and transitions".
"""

from datetime import datetime, timedelta
from uuid import UUID

from domain.attribution import Decision, log
from domain.conversions import recurring
from domain.statuses import ConversionStatus
from models.conversions import sales
from models.conversions.conversions import Conversion
from models.conversions.sales import SaleFacts
from pipelines import earn
from pipelines.conversions import accept, credit, price
from pipelines.conversions.price import Price


def sale(*, organization_id: UUID, sale_id: UUID, now: datetime) -> None:
    """Price an accepted sale and write its conversion with all that goes with one; convert the buyer's lead.

    Idempotent: a sale that has its conversion is left alone. A read or a refund that comes first calls this inline
    under the same lock. Terms are those in force now.
    Budget: 2 round trips (facts; writes and commit), three more in a campaign with performance tiers, and a fourth
    while tiers are in a former home currency.
    """
    facts = sales.lock_unsettled(organization_id=organization_id, sale_id=sale_id)
    if facts is None:
        return
    decision = credit.of_sale(facts)
    conversion = conversion_of(
        facts,
        price.of(facts),
        type=recurring.conversion_type(facts.customer_ordinal),
        source=accept.SOURCE,
        decision=decision,
    )
    earn.write(conversion, share=facts.terms.recruiter_share, now=now)
    sales.stage_settled(organization_id=organization_id, sale_id=sale_id, settled_at=now)
    if decision is not None:
        credit.stage_effects(decision, organization_id=organization_id, conversion_id=sale_id, now=now)


def if_waiting(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> bool:
    """Settle inline when this id was given out and its conversion does not exist yet; say whether it was so.

    Budget: 1 round trip, and those of `sale` when it waits.
    """
    is_waiting = sales.is_unsettled(organization_id=organization_id, sale_id=conversion_id)
    if is_waiting:
        sale(organization_id=organization_id, sale_id=conversion_id, now=now)
    return is_waiting


def conversion_of(
    facts: SaleFacts, priced: Price, *, type: str, source: str, decision: Decision | None = None
) -> Conversion:
    """Return the Pending conversion of a sale, under the sale's id; it is created when the sale was accepted.

    `decision` is why its affiliate is credited, where the sale alone does not say it.
    """
    return Conversion(
        id=facts.sale_id,
        organization_id=facts.organization_id,
        program_id=facts.program_id,
        affiliate_id=facts.affiliate_id,
        source=source,
        external_event_id=facts.external_event_id,
        amount_cents=facts.amount_cents,
        currency=facts.currency,
        commission_cents=priced.commission_cents,
        status=ConversionStatus.Pending.value,
        type=type,
        rate_source=priced.rate.source if priced.rate else source,
        rate_type=priced.rate.type.value if priced.rate else None,
        rate_value=priced.rate.value if priced.rate else None,
        is_test=facts.is_test,
        occurred_at=facts.accepted_at,
        hold_until=facts.accepted_at + timedelta(days=facts.terms.grace_days),
        created_at=facts.accepted_at,
        sub_id=decision.sub_id if decision else facts.sub_id,
        attribution_method=decision.method if decision else None,
        attribution_log=log.written(decision.steps) if decision else None,
        processor_customer_id=facts.customer_id,
        customer_name=facts.customer_name,
        customer_email=facts.customer_email,
        customer_avatar_url=facts.customer_avatar_url,
    )
