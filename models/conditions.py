"""SQL conditions and expressions that statements of several subjects use."""

from collections.abc import Iterable

from domain import statuses


def _sql_list(states: Iterable[str]) -> str:
    return "({})".format(", ".join(f"'{state}'" for state in states))


#: The commission models that reward sales, as a list.
PAYS_ON_SALE = _sql_list(model for model in statuses.CommissionModel if statuses.pays_on_sale(model))

#: Whether a program `p` is open: affiliates can earn in it now.
OPEN_PROGRAM = "(p.is_active and p.archived_at is null and p.suspended_at is null)"

#: Whether a sale earns a commission in a program `p` now.
SELLING_PROGRAM = (
    f"({OPEN_PROGRAM} and (p.default_commission_model in {PAYS_ON_SALE} or p.sale_commission_type is not null))"
)

#: The order in which the campaigns of one account are credited with a sale, for an affiliate `a` of a program `p`:
#: 0 can earn. The others only give the reason why a sale is refused: the affiliate is not Approved, the campaign does
#: not pay for sales, the campaign is closed. Among equals the oldest is credited.
SALE_RANK = f"""case when {SELLING_PROGRAM} then (a.status <> 'Approved')::int
  when a.status <> 'Approved' then 4 when {OPEN_PROGRAM} then 2 else 3 end"""

#: Whether an organization `o` may list programs in the network: it pays for a plan and is not behind with that
#: (`domain.organization.plans.is_paying`), and it has a source for payouts or deals that is not paused: a debit
#: mandate, a balance, a payer known to the processor, or the sandbox in their place. It takes the parameter `sandbox`:
#: whether the sandbox replaces the sources of all organizations (`adapters.funding.registry`).
MAY_LIST = """(o.subscription_status = 'Active' and o.plan_tier <> 'Free' and not o.funding_frozen
  and (o.funding_mode = 'debit' or o.bank_balance_cents > 0 or o.deal_funding_source is not null
    or o.sandbox_rail is not null or %(sandbox)s))"""

#: Whether affiliates see a program `p` of the organization `o` in the network now.
LISTED_PROGRAM = f"(p.network_review = 'Approved' and {OPEN_PROGRAM} and {MAY_LIST})"

#: Whether an affiliate `a` is in a program with performance tiers.
HAS_TIERS = """exists (select from performance_tier t
  where t.organization_id = a.organization_id and t.program_id = a.program_id)"""

#: Whether a program `p` has performance tiers.
PROGRAM_HAS_TIERS = """exists (select from performance_tier t
  where t.organization_id = p.organization_id and t.program_id = p.id)"""

#: The affiliates `m` of a signed-in person: those of their account, and those with their verified email (or none) that
#: have no account yet. It takes the parameters `account` and `email`.
OF_PERSON = "(m.deleted_at is null and (m.account_id = %(account)s or (m.account_id is null and m.email = %(email)s)))"

#: The same with the affiliates of their account that a brand has deleted, whose earnings remain theirs.
EVER_OF_PERSON = """(m.account_id = %(account)s
  or (m.account_id is null and m.email = %(email)s and m.deleted_at is null))"""

#: One affiliate `m` of one organization. It takes the parameters `org` and `affiliate`.
OF_AFFILIATE = "(m.organization_id = %(org)s and m.id = %(affiliate)s)"

#: The states of a conversion that earns nothing, as a list: `c.status in …`, `c.status not in …`.
EARNS_NOTHING = _sql_list(statuses.EARNS_NOTHING)
#: The states of a conversion that is still to be paid.
UNPAID = _sql_list(statuses.UNPAID)


def is_restored_debt(conversion: str) -> str:
    """Return SQL for whether a conversion represents a payment from before a restore that is not netted yet.

    `conversion` is the alias of the row. It uses the expression of index conversion_owing.
    """
    return f"""({conversion}.source = 'restore' and {conversion}.paid_cents > {earned_cents(conversion)}
  and not exists (select from payout_line l where l.organization_id = {conversion}.organization_id
    and l.conversion_id = {conversion}.id and l.is_open))"""


def earned_cents(conversion: str) -> str:
    """Return SQL for what a conversion earns now, in minor units of its currency (index conversion_owing has it).

    `conversion` is the alias of the row.
    """
    net = f"{conversion}.commission_cents - {conversion}.reversed_cents"
    return f"(case when {conversion}.status in {EARNS_NOTHING} then 0 else {net} end)"
