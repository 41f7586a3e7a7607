"""Computes the fee of a click or a lead, and locks the rest of a program's budget.

Source: core spec, "Program" (clickRewardCents, leadBountyCents, budgetCents; Cpc and Cpl primaries).
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from domain.programs import rewards
from domain.programs.fees import Fee
from domain.programs.rewards import BudgetReserve, Kind, Level, Reward
from domain.statuses import CommissionModel
from models.fraud import fraud_settings
from models.money import fx_rates
from models.programs import budgets
from models.programs.programs import Program
from pipelines.programs import tier_progress

__all__ = ["BudgetReserve", "Fee", "Reward", "compute_fee", "find_fee", "list_warnings", "lock_purse"]

_NO_PAID_LEADS = (
    "Paid leads are off for this organization, so no lead is paid until the operator of the service turns them on."
)


def list_warnings(program: Program, body: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return warnings for sent terms without effect: pay for leads while the organization has no paid leads.

    Budget: 1 round trip where pay for leads was sent, else none.
    """
    is_per_lead = program.default_commission_model == CommissionModel.Cpl
    paying = {"default_commission_model": is_per_lead, "lead_bounty_cents": bool(program.lead_bounty_cents)}
    fields = {"default_commission_model": "defaultCommissionModel", "lead_bounty_cents": "leadBountyCents"}
    ineffective = [fields[column] for column, pays in paying.items() if pays and column in body]
    if not ineffective or fraud_settings.read(program.organization_id).lead_preview:
        return []
    return [{"code": "paid_leads_off", "field": field, "message": _NO_PAID_LEADS} for field in ineffective]


def find_fee(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID, kind: Kind) -> Reward | None:
    """Return the current fee of one click or lead of an affiliate, in the currency that it was set in.

    Where this kind is the program's primary model: the affiliate's own rate, else their group's, else their tier's,
    else the program's. Otherwise the program's click reward or lead bounty; None where it has none.
    Budget: 1 round trip; three or four more where tiers may decide.
    """
    terms = budgets.find_terms(organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id)
    if terms is None:
        return None
    return compute_fee(
        terms, organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id, kind=kind
    )


def compute_fee(
    terms: budgets.StoredRewardTerms, *, organization_id: UUID, program_id: UUID, affiliate_id: UUID, kind: Kind
) -> Reward | None:
    """Return the fee of one click or lead by read terms. Budget: none; as `find_fee` where tiers may decide."""
    is_by_tier = terms.has_tiers and rewards.is_primary(terms.model, kind)
    progress = (
        tier_progress.find(organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id)
        if is_by_tier
        else tier_progress.TierProgress()
    )
    return rewards.reward(_build_terms(terms, kind, progress), kind)


def lock_purse(*, organization_id: UUID, program_id: UUID) -> BudgetReserve:
    """Lock the rest of a program's budget for clicks and leads until the transaction ends, and return it.

    The caller writes what it spends in this transaction. Lock budgets of several programs in the order of their ids,
    and before any conversion. Amounts are compared by the newest rates.
    Budget: 1 round trip, and one for every currency where they differ.
    """
    account = budgets.lock(organization_id=organization_id, program_id=program_id)
    if account is None or account.budget_cents is None or account.budget_currency is None:
        return BudgetReserve(budget=None, spent={}, per_usd={})
    budget = Fee(account.budget_cents, account.budget_currency)
    return BudgetReserve(budget=budget, spent=account.spent, per_usd=_NewestRates())


class _NewestRates(Mapping[str, Decimal]):
    """The newest rates, each read when it is used: nearly always everything is in one currency."""

    def __init__(self) -> None:
        self._rates: dict[str, Decimal | None] = {}

    def __getitem__(self, currency: str) -> Decimal:
        if currency not in self._rates:
            self._rates[currency] = fx_rates.find_newest(currency)
        rate = self._rates[currency]
        if rate is None:
            raise KeyError(currency)
        return rate

    def __iter__(self) -> Iterator[str]:
        return iter(self._rates)

    def __len__(self) -> int:
        return len(self._rates)


def _build_terms(
    terms: budgets.StoredRewardTerms, kind: Kind, progress: tier_progress.TierProgress
) -> rewards.RewardTerms:
    click = _build_fee(terms.click_reward_cents, terms.click_reward_currency)
    lead = _build_fee(terms.lead_bounty_cents, terms.lead_bounty_currency)
    return rewards.RewardTerms(
        model=terms.model,
        program=Level(terms.program_type, terms.program_value, terms.fee_currency),
        custom=Level(terms.custom_type, terms.custom_value, terms.custom_currency),
        group=Level(terms.group_type, terms.group_value, terms.group_currency),
        flat=click if kind == "click" else lead,
        tiers=progress.tiers,
        revenue_cents=progress.revenue_cents,
        home_currency=progress.home_currency,
        per_usd=progress.per_usd,
    )


def _build_fee(cents: int | None, currency: str | None) -> Fee | None:
    return None if cents is None or currency is None else Fee(cents, currency)
