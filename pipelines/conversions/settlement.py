"""An accepted sale becomes a priced conversion, once.

Source: tracking spec, "Server-to-server sale"; section 3 "States and transitions".
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from domain import emails
from domain.attribution import Decision, log, self_referrals
from domain.conversions import recurring
from domain.statuses import ConversionType
from models.conversions import sales
from models.conversions.conversions import Conversion
from models.conversions.sales import SaleFacts
from models.gateways import payments
from models.programs import programs
from pipelines import earnings
from pipelines.conversions import acceptance, credit, price
from pipelines.conversions.price import Price
from pipelines.earnings import EarnedConversion


def settle_sale(*, organization_id: UUID, sale_id: UUID, now: datetime) -> None:
    """Price an accepted sale and write its conversion with all related rows; convert the buyer's lead.

    Idempotent: a sale that has its conversion is skipped (facts twice; commit). A read or a refund that comes before
    the job calls this inline under the same lock. The current terms apply.
    Budget: 2 round trips (facts; writes and commit), three more in a campaign with performance tiers, and a fourth
    while tiers are in a former home currency.
    """
    settle_sales(organization_id=organization_id, sale_ids=[sale_id], now=now)


def settle_sales(*, organization_id: UUID, sale_ids: Sequence[UUID], now: datetime) -> None:
    """Settle sales of one organization in the order of their ids, with the result of `settle_sale` for each in turn.

    Budget: that of one, however many they are; in a campaign with performance tiers that of each.
    """
    facts = sales.lock_unsettled(organization_id=organization_id, sale_ids=sale_ids)
    tiered_ids = {sale_facts.affiliate_id for sale_facts in facts if sale_facts.terms.has_tiers}
    if len(facts) > 1 and tiered_ids:
        programs.stage_affiliate_locks(organization_id=organization_id, affiliate_ids=tiered_ids)
    for group in _group_independent(facts):
        _settle(group, now)


def _group_independent(facts: Sequence[SaleFacts]) -> list[list[SaleFacts]]:
    """Return the sales in groups: sales of one group are independent, and depend only on earlier groups.

    With performance tiers the price of a sale depends on the affiliate's earlier sales.
    """
    groups: list[list[SaleFacts]] = []
    group_numbers: Counter[UUID] = Counter()
    for sale_facts in facts:
        group_number = group_numbers[sale_facts.affiliate_id]
        group_numbers[sale_facts.affiliate_id] += sale_facts.terms.has_tiers
        if group_number == len(groups):
            groups.append([])
        groups[group_number].append(sale_facts)
    return groups


def _settle(facts: Sequence[SaleFacts], now: datetime) -> None:
    organization_id = facts[0].organization_id
    decisions = [credit.decide_sale(sale_facts) for sale_facts in facts]
    earned = [
        EarnedConversion(
            build_conversion(
                sale_facts,
                price.price_sale(sale_facts),
                type=recurring.conversion_type(sale_facts.customer_ordinal),
                source=acceptance.SOURCE,
                decision=decision,
            ),
            sale_facts.terms.recruiter_share,
            sale_facts.terms,
        )
        for sale_facts, decision in zip(facts, decisions, strict=True)
    ]
    earnings.write_all(earned, now=now)
    sales.stage_settled(
        organization_id=organization_id, sale_ids=[sale_facts.sale_id for sale_facts in facts], settled_at=now
    )
    for is_test in {sale_facts.is_test for sale_facts in facts}:
        payments.stage_reopening(
            [
                (_payer_from_facts(sale_facts), sale_facts.accepted_at)
                for sale_facts in facts
                if sale_facts.is_test is is_test
            ],
            organization_id=organization_id,
            is_test=is_test,
        )
    effects: dict[UUID, tuple[Decision, UUID]] = {}
    for sale_facts, decision in zip(facts, decisions, strict=True):
        if decision is not None and decision.lead_id is not None:
            effects.setdefault(
                decision.lead_id, (decision, sale_facts.sale_id)
            )  # a lead is converted once, by the first
    for lead_id in sorted(effects):
        decision, sale_id = effects[lead_id]
        credit.stage_effects(decision, organization_id=organization_id, conversion_id=sale_id, now=now)


def _payer_from_facts(facts: SaleFacts) -> payments.Payer:
    email = emails.normalize(facts.customer_email) if facts.customer_email else None
    return payments.Payer(customer_id=facts.customer_id, email_normalized=email)


def settle_if_waiting(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> bool:
    """Settle inline if this id is an accepted sale without its conversion; return whether it was.

    Budget: 1 round trip, and those of `settle_sale` if it was.
    """
    is_waiting = sales.is_unsettled(organization_id=organization_id, sale_id=conversion_id)
    if is_waiting:
        settle_sale(organization_id=organization_id, sale_id=conversion_id, now=now)
    return is_waiting


def find_and_settle(*, organization_id: UUID, id: UUID | None, external_event_id: str | None, now: datetime) -> bool:
    """Settle inline an unsettled sale that a search by either id would find; return whether there was one.

    Budget: 1 round trip, and those of `settle_sale` if there was one.
    """
    sale_id = sales.find_unsettled(organization_id=organization_id, sale_id=id, external_event_id=external_event_id)
    if sale_id is not None:
        settle_sale(organization_id=organization_id, sale_id=sale_id, now=now)
    return sale_id is not None


def build_conversion(
    facts: SaleFacts, sale_price: Price, *, type: str, source: str, decision: Decision | None = None
) -> Conversion:
    """Return the conversion of a sale, normally Pending, with the sale's id, created when the sale was accepted.

    `decision` is why its affiliate is credited, if the sale alone does not decide it. If the buyer is the affiliate, it
    may be Denied or await an approval.
    """
    initial = self_referrals.initial_state(
        buyer_email=None if type == ConversionType.Bonus else facts.customer_email,
        affiliate_email=facts.terms.affiliate_email_normalized,
        policy=facts.terms.self_referrals,
    )
    return Conversion(
        id=facts.sale_id,
        organization_id=facts.organization_id,
        program_id=facts.program_id,
        affiliate_id=facts.affiliate_id,
        source=source,
        external_event_id=facts.external_event_id,
        amount_cents=facts.amount_cents,
        currency=facts.currency,
        commission_cents=sale_price.commission_cents,
        status=initial.status.value,
        type=type,
        rate_source=sale_price.rate.source if sale_price.rate else source,
        rate_type=sale_price.rate.type.value if sale_price.rate else None,
        rate_value=sale_price.rate.value if sale_price.rate else None,
        is_test=facts.is_test,
        occurred_at=facts.accepted_at,
        hold_until=facts.accepted_at + timedelta(days=facts.terms.grace_days),
        created_at=facts.accepted_at,
        sub_id=decision.sub_id if decision else facts.sub_id,
        attribution_method=decision.method if decision else None,
        attribution_log=log.serialize(decision.steps) if decision else None,
        processor_customer_id=facts.customer_id,
        customer_name=facts.customer_name,
        customer_email=facts.customer_email,
        customer_avatar_url=facts.customer_avatar_url,
        self_referral=initial.is_self_referral,
        needs_approval=initial.needs_approval,
    )
