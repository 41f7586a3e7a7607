"""What a program spent on clicks and leads, and the terms that its next click or lead is paid by."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from models import turns
from models.db import db
from models.hot import Hot

# Rows that are summed one by one before they are folded: the sum stays cheap, and folding rare.
_MOST_ROWS = 64


@dataclass(frozen=True, slots=True)
class Account:
    """A program's budget (both None: no limit) and what was spent of it, minor units by currency."""

    budget_cents: int | None
    budget_currency: str | None
    spent: dict[str, int]


_ACCOUNT = Hot(
    "select p.budget_cents, p.budget_currency, s.currency, sum(s.spent_cents), count(s.id) from program p"
    " left join reward_spend s on s.organization_id = %(org)s and s.program_id = p.id"
    " where p.organization_id = %(org)s and p.id = %(program)s"
    " group by p.budget_cents, p.budget_currency, s.currency"
)
_FOLD = Hot(
    "with gone as (delete from reward_spend where organization_id = %(org)s and program_id = %(program)s"
    " returning organization_id, program_id, currency, spent_cents)"
    " insert into reward_spend (organization_id, program_id, currency, spent_cents)"
    " select organization_id, program_id, currency, sum(spent_cents) from gone group by 1, 2, 3"
)


def lock(*, organization_id: UUID, program_id: UUID) -> Account | None:
    """Return a program's account, locked until the transaction ends; None when the organization has no such program.

    What pays for clicks or leads takes this lock first, of several programs in the order of their ids, and before
    any conversion. What changes or takes back a reward needs no lock.
    """
    turns.stage_rewards(program_id)
    rows = db.run(_ACCOUNT, {"org": organization_id, "program": program_id})
    if not rows:
        return None
    if sum(number for *_, number in rows) > _MOST_ROWS:
        db.stage(_FOLD, {"org": organization_id, "program": program_id})
    budget_cents, budget_currency = rows[0][:2]
    spent = {currency: int(cents) for _, _, currency, cents, _ in rows if currency is not None}
    return Account(budget_cents, budget_currency, spent)


@dataclass(frozen=True, slots=True)
class Terms:
    """What an affiliate's clicks and leads are paid by: each amount beside its currency, None where nothing is paid."""

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


#: SQL of the fields of `Terms` in their order, for an affiliate `a`, their program `p` and their group `g`.
TERMS = """p.default_commission_model, p.default_commission_type, p.default_commission_value, p.fee_currency,
  p.click_reward_cents, p.click_reward_currency, p.lead_bounty_cents, p.lead_bounty_currency,
  a.custom_commission_type, a.custom_commission_value, a.custom_commission_currency,
  g.commission_type, g.commission_value, g.commission_currency,
  exists (select from performance_tier t where t.organization_id = a.organization_id and t.program_id = a.program_id)"""
_TERMS = Hot(f"""
select {TERMS}
from affiliate a
join program p on p.id = a.program_id
left join partner_group g on g.id = a.partner_group_id
where a.organization_id = %s and a.program_id = %s and a.id = %s
""")


def terms(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> Terms | None:
    """Return what an affiliate's clicks and leads are paid by; None when the program has no such affiliate."""
    row = db.row(_TERMS, (organization_id, program_id, affiliate_id))
    return Terms(*row) if row else None
