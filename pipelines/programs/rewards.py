"""What a click or lead pays, and what a program's budget still holds.

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
from pipelines.programs import standing

__all__ = ["BudgetReserve", "Fee", "Reward", "fee_by", "fee_for", "purse", "warnings"]

_NO_PAID_LEADS = (
    "Paid leads are off for this organization, so no lead is paid until the operator of the service turns them on."
)


def warnings(program: Program, sent: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return which terms that were sent have no effect now: pay for leads while the organization has no paid leads.

    Budget: 1 round trip where pay for leads was sent, else none.
    """
    is_per_lead = program.default_commission_model == CommissionModel.Cpl
    paying = {"default_commission_model": is_per_lead, "lead_bounty_cents": bool(program.lead_bounty_cents)}
    fields = {"default_commission_model": "defaultCommissionModel", "lead_bounty_cents": "leadBountyCents"}
    named = [fields[column] for column, pays in paying.items() if pays and column in sent]
    if not named or fraud_settings.read(program.organization_id).lead_preview:
        return []
    return [{"code": "paid_leads_off", "field": field, "message": _NO_PAID_LEADS} for field in named]


def fee_for(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID, kind: Kind) -> Reward | None:
    """Return what one click or lead of an affiliate pays now, in the currency that it was set in.

    On a primary of this kind the affiliate's own rate, else their group's, else their tier's, else the program's; on
    any other the program's click reward or lead bounty. None where the program pays for no such thing.
    Budget: 1 round trip; three or four more where tiers may decide.
    """
    found = budgets.find_terms(organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id)
    if found is None:
        return None
    return fee_by(found, organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id, kind=kind)


def fee_by(
    found: budgets.StoredRewardTerms, *, organization_id: UUID, program_id: UUID, affiliate_id: UUID, kind: Kind
) -> Reward | None:
    """Return what one click or lead pays by terms that were read. Budget: none; as `fee_for` where tiers may decide."""
    is_by_tier = found.has_tiers and rewards.is_primary(found.model, kind)
    stands = (
        standing.of(organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id)
        if is_by_tier
        else standing.TierStanding()
    )
    return rewards.reward(_terms(found, kind, stands), kind)


def purse(*, organization_id: UUID, program_id: UUID) -> BudgetReserve:
    """Lock what a program's budget has left for clicks and leads until the transaction ends, and return it.

    What it affords is to be written in this transaction. Of several programs take them in the order of their ids, and
    take them before any conversion. Amounts are compared by the newest rates.
    Budget: 1 round trip, and one for every currency where they differ.
    """
    account = budgets.lock(organization_id=organization_id, program_id=program_id)
    if account is None or account.budget_cents is None or account.budget_currency is None:
        return BudgetReserve(budget=None, spent={}, per_usd={})
    budget = Fee(account.budget_cents, account.budget_currency)
    return BudgetReserve(budget=budget, spent=account.spent, per_usd=_Newest())


class _Newest(Mapping[str, Decimal]):
    """The newest rates, looked up when they are asked for: nearly always everything is in one currency."""

    def __init__(self) -> None:
        self._known: dict[str, Decimal | None] = {}

    def __getitem__(self, currency: str) -> Decimal:
        if currency not in self._known:
            self._known[currency] = fx_rates.find_newest(currency)
        found = self._known[currency]
        if found is None:
            raise KeyError(currency)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _terms(found: budgets.StoredRewardTerms, kind: Kind, stands: standing.TierStanding) -> rewards.RewardTerms:
    click = _flat(found.click_reward_cents, found.click_reward_currency)
    lead = _flat(found.lead_bounty_cents, found.lead_bounty_currency)
    return rewards.RewardTerms(
        model=found.model,
        program=Level(found.program_type, found.program_value, found.fee_currency),
        custom=Level(found.custom_type, found.custom_value, found.custom_currency),
        group=Level(found.group_type, found.group_value, found.group_currency),
        flat=click if kind == "click" else lead,
        tiers=stands.tiers,
        revenue_cents=stands.revenue_cents,
        home_currency=stands.home_currency,
        per_usd=stands.per_usd,
    )


def _flat(cents: int | None, currency: str | None) -> Fee | None:
    return None if cents is None or currency is None else Fee(cents, currency)
