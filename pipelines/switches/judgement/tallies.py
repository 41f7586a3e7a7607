"""Counts and sums of judged slices, added up collection by collection for the preview."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.statuses import EARNS_NOTHING, ConversionStatus
from domain.switches.decisions import CommissionDecision
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.records import CommissionKind
from domain.switches.rules.commission_rules import SUM_OF_KIND
from pipelines.switches.judgement import commission_verdicts
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding import item_building

_NOT_MONEY = (LeftOutReason.NotMoney, LeftOutReason.UnreadableRow)
_PAYABLE_STATUSES = ("Approved", "Pending")
SUMS = ("sales", "gross_cents", "refunded_cents", "commission_cents", *dict.fromkeys(SUM_OF_KIND.values()))


def add(
    tally: Mapping[str, Any], judged: Sequence[ItemVerdict], *, first_of_payments: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a collection's tally with a judged slice added to it.

    A tally has counts by verdict (and of `implied` rows, which no list has), left_out by reason with commission by
    currency, warnings with an example, and of commissions (with `first_of_payments`) money and payable by currency, in
    minor units.
    """
    total = _Tally(tally)
    for verdict in judged:
        total.count(verdict)
        if first_of_payments is not None and verdict.reason not in _NOT_MONEY:
            total.add_money(verdict, first_of_payments)
    return total.values


class _Tally:
    def __init__(self, tally: Mapping[str, Any]) -> None:
        self.values: dict[str, Any] = {
            name: dict(tally.get(name, {})) for name in ("counts", "left_out", "warnings", "money", "payable")
        }

    def count(self, verdict: ItemVerdict) -> None:
        """Count a verdict, its reason and its warnings."""
        counts = self.values["counts"]
        name = str(verdict.verdict)
        counts[name] = counts.get(name, 0) + 1
        if item_building.is_implied(verdict.item.kind, verdict.item.source_id):
            counts["implied"] = counts.get("implied", 0) + 1
        if verdict.reason is not None:
            entry = self.values["left_out"].setdefault(str(verdict.reason), {"count": 0, "commission": {}})
            entry["count"] += 1
            currency = verdict.item.currency
            if currency and verdict.item.commission_cents is not None and verdict.reason not in _NOT_MONEY:
                commission = entry["commission"]
                commission[currency] = commission.get(currency, 0) + verdict.item.commission_cents
        for code in verdict.all_warnings:
            entry = self.values["warnings"].setdefault(str(code), {"count": 0, "example": verdict.item.source_id})
            entry["count"] += 1

    def add_money(self, verdict: ItemVerdict, first_of_payments: Mapping[str, str]) -> None:
        """Add the money of a commission, whatever becomes of it, and what it makes payable."""
        item = verdict.item
        money = self.values["money"].setdefault(item.currency or "", dict.fromkeys(SUMS, 0))
        commission = item.commission_cents or 0
        amount = item.amount_cents or 0
        kind = SUM_OF_KIND[CommissionKind(item.kind)] if item.kind else "pending_cents"
        money["commission_cents"] += commission
        money[kind] += commission
        if commission < 0:
            money["refunded_cents"] += -min(amount, 0)
        else:
            carried = commission_verdicts.carried_cents(item, first_of_payments)
            is_first = item.key is None or first_of_payments.get(item.key, item.source_id) == item.source_id
            money["sales"] += is_first
            money["gross_cents"] += carried
            money["refunded_cents"] += min((item.record or {}).get("refunded_cents") or 0, carried)
        cents = _payable_cents(verdict)
        if cents:
            payable = self.values["payable"]
            payable[item.currency] = payable.get(item.currency, 0) + cents


def _payable_cents(verdict: ItemVerdict) -> int:
    """Return what Run makes payable by a row: negative for what a change or a refund takes of what is owed here."""
    decision = verdict.decision
    if decision is None or isinstance(decision, CommissionDecision):
        return 0
    if verdict.verdict == SwitchVerdict.Changed:
        return -int(decision["taken_back_cents"])
    if verdict.verdict != SwitchVerdict.New:
        return 0
    status, is_locked, cents = decision["status"], decision["is_locked"], int(decision["commission_cents"])
    if decision["act"] == "refund":
        is_owed_back = decision["is_owed_back"] and status == ConversionStatus.Paid
        counts = is_owed_back if is_locked else status not in EARNS_NOTHING
        return -cents if counts else 0
    return cents if status in _PAYABLE_STATUSES and not is_locked else 0


def merge_counts(tallies: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of `warnings` of tallies, with the first example of each code."""
    merged: dict[str, Any] = {}
    for tally in tallies:
        for code, entry in tally.get("warnings", {}).items():
            total = merged.setdefault(code, {"count": 0, "example": entry["example"]})
            total["count"] += entry["count"]
    return merged
