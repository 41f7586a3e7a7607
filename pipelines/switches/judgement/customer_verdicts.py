"""Customers by every name, with their first payment and number of payments; judged after the commissions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.switches.decisions import CustomerDecision
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.rules import customer_rules
from domain.switches.rules.customer_rules import BroughtSales, CustomerRow, CustomerSummary
from models import ids
from models.switches import brought_customers
from models.switches.brought_customers import BroughtCustomer
from models.switches.judgement import item_lookups, items
from models.switches.judgement.item_lookups import AffiliateTarget, CustomerSales
from models.switches.judgement.items import Item
from pipelines.switches.judgement import verdicts
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging


@dataclass(frozen=True, slots=True)
class _Customer:
    """All rows of one customer: the one that says who is credited, and their summary."""

    chosen: Item
    summary: CustomerSummary


@dataclass(frozen=True, slots=True)
class _Facts:
    """The customers of a slice by key, their payments, and the customers that earlier switches brought."""

    customers: Mapping[str, _Customer]
    sales: Mapping[str, CustomerSales]
    newest: Mapping[str, AffiliateTarget]
    existing: Mapping[tuple[UUID, str], BroughtCustomer]


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on customers. Of several rows of one customer the others are merged with the chosen one.

    Budget: 4 round trips for any number of rows.
    """
    facts = _load_facts(judging, slice_items)
    new_ids: dict[str, UUID] = {}
    return [_judge_one(judging, item, facts, new_ids) for item in slice_items]


def _load_facts(judging: Judging, slice_items: Sequence[Item]) -> _Facts:
    keys = sorted({item.key for item in slice_items if item.key is not None})
    sales = item_lookups.sum_customer_sales(**judging.switch.key, customer_refs=keys)
    refs = {row.newest_affiliate for row in sales.values() if row.newest_affiliate}
    newest = item_lookups.find_affiliate_targets(**judging.switch.key, source_ids=sorted(refs))
    rows: dict[str, list[Item]] = defaultdict(list)
    for row in items.list_of_keys(**judging.switch.key, collection="customers", keys=keys):
        if row.key is not None and reason_for_row(judging, row) is None:
            rows[row.key].append(row)
    existing = brought_customers.find_of_source(
        organization_id=judging.switch.organization_id,
        program_ids=[program.id for program in judging.programs],
        source=judging.switch.source,
        source_ids=sorted({row.source_id for group in rows.values() for row in group}),
    )
    customers = {key: _summarize(judging, group, sales.get(key)) for key, group in rows.items()}
    return _Facts(customers, sales, newest, {(row.program_id, row.source_id): row for row in existing})


def _summarize(judging: Judging, items_of_customer: Sequence[Item], sales: CustomerSales | None) -> _Customer:
    rows = [_to_row(item) for item in items_of_customer]
    chosen_id = customer_rules.choose_row(rows).source_id
    brought = BroughtSales(sales.payments, sales.first_at, sales.last_at) if sales else BroughtSales()
    summary = customer_rules.summarize(rows, brought, read_at=judging.switch.reading_at or judging.now)
    return _Customer(next(item for item in items_of_customer if item.source_id == chosen_id), summary)


def reason_for_row(judging: Judging, item: Item) -> LeftOutReason | None:
    """Return why a row is left out by itself, its campaign or its affiliate; None if it is not."""
    if item.problem is not None:
        return LeftOutReason(item.problem)
    if not verdicts.is_mapped(item, judging.program_by_campaign):
        return LeftOutReason.CampaignNotMapped
    if item.key is None:
        return LeftOutReason.CustomerWithoutName
    if item.affiliate_ref is None:
        is_named = bool((item.record or {}).get("affiliate"))
        return LeftOutReason.AffiliateUnknown if is_named else LeftOutReason.CustomerWithoutAffiliate
    return None if verdicts.has_owner(item) else LeftOutReason.AffiliateUnknown


def _judge_one(judging: Judging, item: Item, facts: _Facts, new_ids: dict[str, UUID]) -> ItemVerdict:
    reason = reason_for_row(judging, item)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    assert item.key is not None  # else there is a reason
    customer = facts.customers[item.key]
    chosen = customer.chosen
    affiliate = _affiliate(chosen, facts.sales.get(item.key), facts)
    existing = facts.existing.get((affiliate.program_id, chosen.source_id))
    target_id = existing.id if existing else chosen.target_id or new_ids.setdefault(chosen.source_id, ids.new_id())
    if item.source_id != chosen.source_id:
        return ItemVerdict(item, SwitchVerdict.Merged, target_type="customer", target_id=target_id)
    decision = _decision(target_id, affiliate, customer.summary, existing)
    verdict = SwitchVerdict.New
    if existing:
        verdict = SwitchVerdict.Changed if _is_changed(existing, decision) else SwitchVerdict.Known
    return ItemVerdict(item, verdict, decision=decision, target_type="customer", target_id=target_id)


def _affiliate(chosen: Item, sales: CustomerSales | None, facts: _Facts) -> AffiliateTarget:
    """Return who is credited: the affiliate of the chosen row; of a customer without a row the newest commission's."""
    assert chosen.owner_id is not None  # it has no reason
    assert chosen.owner_program_id is not None
    is_implied = (chosen.record or {}).get("affiliate") is None
    newest = facts.newest.get(sales.newest_affiliate) if is_implied and sales and sales.newest_affiliate else None
    if newest is not None and newest.program_id == chosen.owner_program_id:
        return newest
    return AffiliateTarget(chosen.affiliate_ref or "", chosen.owner_id, chosen.owner_program_id)


def _decision(
    target_id: UUID, affiliate: AffiliateTarget, summary: CustomerSummary, existing: BroughtCustomer | None
) -> CustomerDecision:
    return CustomerDecision(
        customer_id=target_id,
        affiliate_id=affiliate.id,
        program_id=affiliate.program_id,
        processor_customer_id=summary.billing_id,
        processor_subscription_id=summary.subscription_id,
        email=summary.email,
        name=summary.name,
        first_paid_at=summary.first_paid_at,
        payments=summary.payments,
        added_payments=max(summary.payments - existing.payments, 0) if existing else summary.payments,
        seen_at=summary.seen_at,
    )


def _is_changed(existing: BroughtCustomer, decision: CustomerDecision) -> bool:
    """Return whether a customer from an earlier switch has other names, payments or another affiliate now."""
    before = (
        existing.affiliate_id,
        existing.customer_id,
        existing.subscription_id,
        existing.email,
        existing.first_paid_at,
    )
    now = (
        decision.affiliate_id,
        decision.processor_customer_id,
        decision.processor_subscription_id,
        decision.email,
        decision.first_paid_at,
    )
    return before != now or decision.payments > existing.payments


def _to_row(item: Item) -> CustomerRow:
    record: Mapping[str, Any] = item.record or {}
    return CustomerRow(
        source_id=item.source_id,
        billing_id=record.get("billing_id"),
        subscription_id=record.get("subscription_id"),
        email=record.get("email"),
        name=record.get("name"),
        first_paid_at=_time(record.get("first_paid_at")),
        became_lead_at=_time(record.get("became_lead_at")),
        created_at=_time(record.get("created_at")),
        payments=record.get("payments"),
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
