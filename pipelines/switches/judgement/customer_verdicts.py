"""Customers by every name, with their first payment and number of payments; judged after the commissions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.switches.decisions import CustomerDecision
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.rules import customer_rules
from domain.switches.rules.customer_rules import BroughtSales, CustomerRow, CustomerSummary
from models import ids
from models.switches.brought_customers import BroughtCustomer
from models.switches.judgement import item_lookups, items
from models.switches.judgement.item_lookups import AffiliateTarget, CustomerSales
from models.switches.judgement.items import Item
from pipelines.switches.judgement import brought_matches, verdicts
from pipelines.switches.judgement.brought_matches import CustomerToMatch
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding import item_building
from pipelines.switches.understanding.context import Judging


@dataclass(frozen=True, slots=True)
class _Customer:
    """All rows of one customer, the chosen one first, who is credited by them, and their payments that come over."""

    rows: Sequence[Item]
    owner: AffiliateTarget
    sales: BroughtSales

    def summarize(self, judging: Judging, *, earlier: CustomerSummary | None = None) -> CustomerSummary:
        read_at = judging.switch.reading_at or judging.now
        return customer_rules.summarize(
            [_to_row(item) for item in self.rows], self.sales, read_at=read_at, earlier=earlier
        )


@dataclass(frozen=True, slots=True)
class _Facts:
    """The customers of a slice, and those of them whom earlier switches brought, by key."""

    customers: Mapping[str, _Customer]
    existing: Mapping[str, BroughtCustomer]


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on customers. Of several rows of one customer the others are merged with the chosen one.

    Budget: 6 round trips for any number of rows.
    """
    facts = _load_facts(judging, slice_items)
    new_ids: dict[str, UUID] = {}
    return [_judge_one(judging, item, facts, new_ids) for item in slice_items]


def _load_facts(judging: Judging, slice_items: Sequence[Item]) -> _Facts:
    keys = sorted({item.key for item in slice_items if item.key is not None})
    sales = item_lookups.sum_customer_sales(**judging.switch.key, customer_refs=keys)
    refs = {row.newest_affiliate for row in sales.values() if row.newest_affiliate}
    targets = item_lookups.find_affiliate_targets(**judging.switch.key, source_ids=sorted(refs))
    groups: dict[str, list[Item]] = defaultdict(list)
    for row in items.list_of_keys(**judging.switch.key, collection="customers", keys=keys):
        if row.key is not None and reason_for_row(judging, row) is None:
            groups[row.key].append(row)
    customers = {}
    for key, group in groups.items():
        sums = sales.get(key)
        newest = targets.get(sums.newest_affiliate) if sums and sums.newest_affiliate else None
        if (customer := _build_customer(group, sums, newest)) is not None:
            customers[key] = customer
    names = [_list_names(judging, key, customer) for key, customer in customers.items()]
    return _Facts(customers, brought_matches.find_existing(judging, names))


def _build_customer(
    group: Sequence[Item], sums: CustomerSales | None, newest: AffiliateTarget | None
) -> _Customer | None:
    """Return the customer of rows without a reason of their own; None if nothing names an affiliate who comes over."""
    owners = {item.source_id: owner for item in group if (owner := _find_owner(item, newest)) is not None}
    if not owners:
        return None
    naming = [item for item in group if _names_affiliate(item)]
    candidates = naming or [item for item in group if item.source_id in owners]
    chosen_id = customer_rules.choose_row([_to_row(item) for item in candidates]).source_id
    rows = sorted(group, key=lambda item: item.source_id != chosen_id)  # stable: the chosen one comes first
    return _Customer(rows, owners[chosen_id], _to_sales(sums) if sums else BroughtSales())


def _list_names(judging: Judging, key: str, customer: _Customer) -> CustomerToMatch:
    summary = customer.summarize(judging)
    return CustomerToMatch(
        key=key,
        program_id=customer.owner.program_id,
        chosen_id=customer.rows[0].source_id,
        source_ids=[item.source_id for item in customer.rows],
        billing_id=summary.billing_id,
        subscription_id=summary.subscription_id,
        inbox=brought_matches.normalize(summary.email),
    )


def _names_affiliate(item: Item) -> bool:
    return bool((item.record or {}).get("affiliate"))


def _find_owner(item: Item, newest: AffiliateTarget | None) -> AffiliateTarget | None:
    """Return who is credited: the affiliate of the row; of a row without one that of the `newest` commission."""
    if not _names_affiliate(item) and newest is not None and item.program_id in (None, newest.program_id):
        return newest
    if not verdicts.has_owner(item) or item.owner_id is None or item.owner_program_id is None:
        return None
    return AffiliateTarget(item.affiliate_ref or "", item.owner_id, item.owner_program_id)


def reason_for_row(judging: Judging, item: Item) -> LeftOutReason | None:
    """Return why a row is left out whatever other rows say; a missing affiliate may be that of the commissions."""
    if item.problem is not None and item.problem != LeftOutReason.CustomerWithoutAffiliate:
        return LeftOutReason(item.problem)
    is_listed = not item_building.is_implied(item.kind, item.source_id)
    if is_listed and not verdicts.is_mapped(item, judging.program_by_campaign):
        return LeftOutReason.CampaignNotMapped
    if item.key is None:
        return LeftOutReason.CustomerWithoutName
    return LeftOutReason.AffiliateUnknown if _names_affiliate(item) and not verdicts.has_owner(item) else None


def _reason(judging: Judging, item: Item, customer: _Customer | None) -> LeftOutReason | None:
    reason = reason_for_row(judging, item)
    if reason is not None or customer is not None:
        return reason
    if not verdicts.is_mapped(item, judging.program_by_campaign):
        return LeftOutReason.CampaignNotMapped
    return LeftOutReason.AffiliateUnknown if item.affiliate_ref else LeftOutReason.CustomerWithoutAffiliate


def _judge_one(judging: Judging, item: Item, facts: _Facts, new_ids: dict[str, UUID]) -> ItemVerdict:
    customer = facts.customers.get(item.key or "")
    reason = _reason(judging, item, customer)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    assert customer is not None  # else there is a reason
    assert item.key is not None
    chosen, existing = customer.rows[0], facts.existing.get(item.key)
    target_id = existing.id if existing else chosen.target_id or new_ids.setdefault(chosen.source_id, ids.new_id())
    if item.source_id != chosen.source_id:
        return ItemVerdict(item, SwitchVerdict.Merged, target_type="customer", target_id=target_id)
    if existing is not None and existing.program_id != customer.owner.program_id:
        # One buyer has one count: the customer stays in the other program.
        return ItemVerdict(item, SwitchVerdict.Known, target_type="customer", target_id=target_id)
    decision = _decide(judging, customer, target_id, existing)
    verdict = SwitchVerdict.New
    if existing:
        verdict = SwitchVerdict.Changed if _is_changed(existing, decision) else SwitchVerdict.Known
    return ItemVerdict(item, verdict, decision=decision, target_type="customer", target_id=target_id)


def _decide(
    judging: Judging, customer: _Customer, target_id: UUID, existing: BroughtCustomer | None
) -> CustomerDecision:
    summary = customer.summarize(judging, earlier=_to_summary(existing) if existing else None)
    affiliate_id, names_affiliate = customer.owner.id, _names_affiliate(customer.rows[0])
    source_id = customer.rows[0].source_id
    if existing is not None and not names_affiliate:
        is_older = customer.sales.last_at is None or customer.sales.last_at < existing.seen_at
        if existing.names_affiliate or is_older:
            affiliate_id, names_affiliate = existing.affiliate_id, existing.names_affiliate
        if item_building.is_implied(None, source_id):
            source_id = existing.source_id
    return CustomerDecision(
        customer_id=target_id,
        affiliate_id=affiliate_id,
        program_id=customer.owner.program_id,
        processor_customer_id=summary.billing_id,
        processor_subscription_id=summary.subscription_id,
        email=summary.email,
        name=summary.name,
        first_paid_at=summary.first_paid_at,
        payments=summary.payments,
        added_payments=max(summary.payments - existing.payments, 0) if existing else summary.payments,
        seen_at=summary.seen_at,
        brought_payments=summary.brought_payments,
        names_affiliate=names_affiliate,
        source_id=source_id,
    )


def _is_changed(existing: BroughtCustomer, decision: CustomerDecision) -> bool:
    """Return whether a customer from an earlier switch has other names, payments or another affiliate now."""
    before = (
        existing.affiliate_id,
        existing.names_affiliate,
        existing.source_id,
        existing.customer_id,
        existing.subscription_id,
        existing.email,
        existing.first_paid_at,
        existing.payments,
        existing.brought_payments,
    )
    now = (
        decision.affiliate_id,
        decision.names_affiliate,
        decision.source_id,
        decision.processor_customer_id,
        decision.processor_subscription_id,
        decision.email,
        decision.first_paid_at,
        decision.payments,
        decision.brought_payments,
    )
    return before != now


def _to_summary(existing: BroughtCustomer) -> CustomerSummary:
    return CustomerSummary(
        billing_id=existing.customer_id,
        subscription_id=existing.subscription_id,
        email=existing.email,
        name=existing.name,
        first_paid_at=existing.first_paid_at,
        payments=existing.payments,
        seen_at=existing.seen_at,
        brought_payments=existing.brought_payments,
    )


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


def _to_sales(sums: CustomerSales) -> BroughtSales:
    return BroughtSales(**{field.name: getattr(sums, field.name) for field in fields(BroughtSales)})


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
