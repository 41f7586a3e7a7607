"""Commissions of the former system become conversions. Negative ones are judged later (`refund_verdicts`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from domain import emails
from domain.switches.decisions import external_event_id
from domain.switches.reasons import LeftOutReason, SwitchVerdict, SwitchWarning
from domain.switches.records import CommissionKind
from domain.switches.rules import commission_rules
from models import ids
from models.switches.judgement import item_lookups, known_records
from models.switches.judgement.items import Item
from models.switches.judgement.known_records import KnownConversion, SaleToMatch
from pipelines.switches.judgement import brought_matches, verdicts
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging

# The word of what a source without commissions owes an affiliate in all.
_UNPAID_EARNINGS, _BONUS = "unpaid_earnings", "Bonus"


@dataclass(frozen=True, slots=True)
class _Facts:
    """What other rows and the brand's records say of a slice.

    `carriers`: the commission that has the amount of each payment, of those that come over.
    """

    carriers: dict[str, str]
    first_sales: Mapping[str, tuple[str, str | None]]
    existing: Mapping[str, KnownConversion]
    tracked: set[str]


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on commissions that are not negative. Budget: 6 round trips for any number of rows."""
    reasons = {item.source_id: reason_without_facts(judging, item) for item in slice_items}
    candidates = [item for item in slice_items if reasons[item.source_id] is None]
    facts = _load_facts(judging, slice_items, candidates)
    judged = []
    for item in slice_items:
        reason = reasons[item.source_id]
        verdict = verdicts.leave_out(item, reason) if reason else _judge_candidate(judging, item, facts)
        judged.append(verdict)
    return judged


def carried_cents(item: Item, first_of_payments: Mapping[str, str]) -> int:
    """Return the sale's amount, or 0 if another commission of the payment counts it in the source's sums."""
    is_first = item.key is None or first_of_payments.get(item.key, item.source_id) == item.source_id
    return (item.amount_cents or 0) if is_first else 0


def find_first_of_payments(judging: Judging, slice_items: Sequence[Item]) -> dict[str, str]:
    """Return the first commission of each payment of a slice, by payment. Budget: 1 round trip."""
    keys = {item.key for item in slice_items if item.key is not None}
    return item_lookups.find_first_of_payments(**judging.switch.key, keys=sorted(keys))


def reason_for_owner(judging: Judging, item: Item) -> LeftOutReason | None:
    """Return why a row's campaign or affiliate leaves it out; None if they do not."""
    if not verdicts.is_mapped(item, judging.program_by_campaign):
        return LeftOutReason.CampaignNotMapped
    return None if verdicts.has_owner(item) else LeftOutReason.AffiliateUnknown


def reason_without_facts(judging: Judging, item: Item) -> LeftOutReason | None:
    """Return why a commission is left out whatever else is known; None if it is not."""
    if item.problem is not None:
        return LeftOutReason(item.problem)
    return (
        reason_for_owner(judging, item)
        or commission_rules.reason_for_amounts(
            kind=item.kind,
            currency=item.currency,
            amount_cents=item.amount_cents or 0,
            commission_cents=item.commission_cents or 0,
        )
        or commission_rules.reason_for_time(
            occurred_at=item.occurred_at, cut_over_at=judging.switch.effective_cut_over_at, now=judging.now
        )
    )


def _load_facts(judging: Judging, slice_items: Sequence[Item], candidates: Sequence[Item]) -> _Facts:
    organization_id, source = judging.switch.organization_id, judging.switch.source
    return _Facts(
        carriers=item_lookups.find_amount_carriers(
            **judging.switch.key,
            keys=sorted({item.key for item in candidates if item.key is not None}),
            id_prefix=external_event_id(source, ""),
        ),
        first_sales=brought_matches.find_first_sales(judging, candidates),
        existing=known_records.find_conversions(
            organization_id=organization_id,
            external_event_ids=[external_event_id(source, item.source_id) for item in candidates],
        ),
        tracked=known_records.find_tracked(
            organization_id=organization_id,
            sales=[_sale_to_match(item) for item in candidates],
            apart_s=commission_rules.SAME_SALE_S,
        ),
    )


def _sale_to_match(item: Item) -> SaleToMatch:
    record = item.record or {}
    email = record.get("customer_email")
    assert item.currency is not None  # else it is left out
    assert item.occurred_at is not None
    return SaleToMatch(
        source_id=item.source_id,
        customer_id=record.get("billing_id"),
        subscription_id=record.get("subscription_id"),
        email=emails.normalize(email) if email else None,
        charge_id=record.get("charge_id"),
        currency=item.currency,
        amount_cents=item.amount_cents or 0,
        occurred_at=item.occurred_at,
    )


def _judge_candidate(judging: Judging, item: Item, facts: _Facts) -> ItemVerdict:
    existing = facts.existing.get(external_event_id(judging.switch.source, item.source_id))
    if existing is not None:
        return _judge_known(judging, item, existing, facts)
    if item.source_id in facts.tracked:
        return verdicts.leave_out(item, LeftOutReason.AlreadyTracked)
    initial = commission_rules.initial_status(CommissionKind(item.kind or ""), unpaid=judging.options.unpaid)
    decision = _decision(judging, item, facts) | {
        "act": "create",
        "conversion_id": ids.new_id(),
        "status": initial.status,
        "is_locked": initial.is_locked,
        "hold_until": _hold_until(judging, item) if initial.has_hold else None,
    }
    if decision["amount_cents"] and item.key is not None:
        facts.carriers[item.key] = item.source_id
    return ItemVerdict(
        item,
        SwitchVerdict.New,
        decision=decision,
        target_type="conversion",
        target_id=decision["conversion_id"],
    )


def _judge_known(judging: Judging, item: Item, existing: KnownConversion, facts: _Facts) -> ItemVerdict:
    if existing.program_id != item.owner_program_id:
        return verdicts.leave_out(item, LeftOutReason.IdKnownElsewhere)
    kind = CommissionKind(item.kind or "")
    is_paid_here = existing.was_in_payout or existing.paid_cents > 0
    status = commission_rules.changed_status(kind, status=existing.status, is_paid_here=is_paid_here)
    is_paid_twice = kind == CommissionKind.Paid and existing.payout_id is not None
    if status is None or is_paid_twice:
        warnings = (SwitchWarning.PaidTwice,) if is_paid_twice else ()
        return ItemVerdict(
            item, SwitchVerdict.Known, target_type="conversion", target_id=existing.id, warnings=warnings
        )
    decision = _decision(judging, item, facts) | {
        "act": "change",
        "conversion_id": existing.id,
        "affiliate_id": existing.affiliate_id,
        "status": status,
        "is_locked": not is_paid_here,
        "hold_until": None,
        "taken_back_cents": 0 if existing.payout_locked else existing.net_cents,
    }
    return ItemVerdict(item, SwitchVerdict.Changed, decision=decision, target_type="conversion", target_id=existing.id)


def _decision(judging: Judging, item: Item, facts: _Facts) -> dict[str, Any]:
    """Return the fields of a CommissionDecision that do not depend on the act."""
    record = item.record or {}
    amount_cents = _amount_of_payment(item, facts)
    return {
        "affiliate_id": item.owner_id,
        "program_id": item.owner_program_id,
        "external_event_id": external_event_id(judging.switch.source, item.source_id),
        "type": _BONUS if record.get("word") == _UNPAID_EARNINGS else _type(item, facts.first_sales),
        "currency": item.currency,
        "amount_cents": amount_cents,
        "refunded_cents": min(max(record.get("refunded_cents") or 0, 0), amount_cents),
        "commission_cents": item.commission_cents or 0,
        "occurred_at": item.occurred_at,
        "processor_customer_id": record.get("billing_id"),
        "processor_subscription_id": record.get("subscription_id"),
        "customer_email": record.get("customer_email"),
        "customer_name": record.get("customer_name"),
        "charge_id": record.get("charge_id"),
        "sale_cents": item.amount_cents or 0,
    }


def _amount_of_payment(item: Item, facts: _Facts) -> int:
    """Return the sale's amount for the first commission of a payment that comes over; 0 if another one has it."""
    if not item.amount_cents or item.key is None:
        return item.amount_cents or 0
    return item.amount_cents if facts.carriers.get(item.key, item.source_id) == item.source_id else 0


def _type(item: Item, first_sales: Mapping[str, tuple[str, str | None]]) -> str:
    """Return OneTime for a customer's first sale and for one without a customer, else Recurring."""
    if item.customer_ref is None:
        return "OneTime"
    first_id, first_payment = first_sales.get(item.customer_ref, (item.source_id, None))
    is_first = first_id == item.source_id or (item.key is not None and item.key == first_payment)
    return "OneTime" if is_first else "Recurring"


def _hold_until(judging: Judging, item: Item) -> Any:
    due_at = (item.record or {}).get("due_at")
    if due_at is not None:
        return due_at
    assert item.occurred_at is not None  # else it is left out
    return item.occurred_at + timedelta(days=judging.payout_grace_days)
