"""Spending of programs on clicks and leads, and the terms that pay the next click or lead."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from models import advisory_locks
from models.conditions import HAS_TIERS
from models.db import db
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows, columns

# How many rows are summed before they are folded into one: the sum stays cheap, and folding rare.
_MAX_ROWS = 64


@dataclass(frozen=True, slots=True)
class BudgetAccount:
    """A program's budget (both None: no limit) and what was spent of it, in minor units by currency."""

    budget_cents: int | None
    budget_currency: str | None
    spent: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Spent:
    budget_cents: int | None
    budget_currency: str | None
    currency: str | None
    cents: int | None
    number: int


_SPENT_ROWS = Rows(_Spent)
_SPENT = FreshSelect("""
select p.budget_cents, p.budget_currency, s.currency, sum(s.spent_cents)::bigint, count(s.id) from program p
left join reward_spend s on s.organization_id = %(org)s and s.program_id = p.id
where p.organization_id = %(org)s and p.id = %(program)s
group by p.budget_cents, p.budget_currency, s.currency
""")
_FOLD = PreparedStatement("""
with gone as (
  delete from reward_spend where organization_id = %(org)s and program_id = %(program)s
  returning organization_id, program_id, currency, spent_cents
)
insert into reward_spend (organization_id, program_id, currency, spent_cents)
select organization_id, program_id, currency, sum(spent_cents) from gone group by 1, 2, 3
""")


def lock(*, organization_id: UUID, program_id: UUID) -> BudgetAccount | None:
    """Return a program's account, locked until the transaction ends; None if the organization has no such program.

    To pay for clicks or leads, take this lock first, for several programs by id, and before any conversion. To change
    or reverse a reward, no lock is needed.
    """
    advisory_locks.stage_program_rewards_lock(program_id)
    rows = _SPENT_ROWS.all(_SPENT, {"org": organization_id, "program": program_id})
    if not rows:
        return None
    if sum(row.number for row in rows) > _MAX_ROWS:
        db.stage(_FOLD, {"org": organization_id, "program": program_id})
    spent = {row.currency: row.cents or 0 for row in rows if row.currency is not None}
    return BudgetAccount(rows[0].budget_cents, rows[0].budget_currency, spent)


@dataclass(frozen=True, slots=True)
class StoredRewardTerms:
    """The terms of an affiliate's clicks and leads: each amount with its currency, None if nothing is paid."""

    model: str
    program_type: str
    program_value: Decimal
    fee_currency: str | None
    click_reward_cents: int | None
    click_reward_currency: str | None
    lead_bounty_cents: int | None
    lead_bounty_currency: str | None
    custom_type: str | None
    custom_value: Decimal | None
    custom_currency: str | None
    group_type: str | None
    group_value: Decimal | None
    group_currency: str | None
    has_tiers: bool


#: SQL of `StoredRewardTerms`, for an affiliate `a`, their program `p` and their group `g`.
TERMS = columns(
    StoredRewardTerms,
    "p",
    model="p.default_commission_model",
    program_type="p.default_commission_type",
    program_value="p.default_commission_value",
    custom_type="a.custom_commission_type",
    custom_value="a.custom_commission_value",
    custom_currency="a.custom_commission_currency",
    group_type="g.commission_type",
    group_value="g.commission_value",
    group_currency="g.commission_currency",
    has_tiers=HAS_TIERS,
)
_TERMS_ROWS = Rows(StoredRewardTerms)
_TERMS = FreshSelect(f"""
select {TERMS}
from affiliate a
join program p on p.id = a.program_id
left join partner_group g on g.id = a.partner_group_id
where a.organization_id = %s and a.program_id = %s and a.id = %s
""")


def find_terms(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> StoredRewardTerms | None:
    """Return the terms of an affiliate's clicks and leads; None if the program has no such affiliate."""
    return _TERMS_ROWS.first(_TERMS, (organization_id, program_id, affiliate_id))
