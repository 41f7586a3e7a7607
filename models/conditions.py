"""What statements of several subjects ask of a row, each said once, for use inside their SQL."""

from collections.abc import Iterable

from domain import statuses


def _listed(states: Iterable[str]) -> str:
    return "({})".format(", ".join(f"'{state}'" for state in states))


#: The commission models that reward sales, as a list.
PAYS_ON_SALE = _listed(model for model in statuses.CommissionModel if statuses.pays_on_sale(model))

#: A program `p` in which something can be earned now.
OPEN_PROGRAM = "(p.is_active and p.archived_at is null and p.suspended_at is null)"

#: A program `p` in which a sale earns a commission now.
SELLING_PROGRAM = (
    f"({OPEN_PROGRAM} and (p.default_commission_model in {PAYS_ON_SALE} or p.sale_commission_type is not null))"
)

#: The order in which the campaigns of one account are credited with a sale, for an affiliate `a` of a program `p`:
#: 0 can earn. The others only say why a sale is refused: the affiliate is not Approved, the campaign does not pay for
#: sales, the campaign is closed. Among equals the oldest is credited.
SALE_RANK = f"""case when {SELLING_PROGRAM} then (a.status <> 'Approved')::int
  when a.status <> 'Approved' then 4 when {OPEN_PROGRAM} then 2 else 3 end"""

#: Whether an organization `o` has what listing in the network needs: a plan that it pays for and is not behind with
#: (`domain.organization.plans.is_paying`), and a source that its payouts or deals are funded from and that is not
#: paused: a debit mandate, a balance, a payer whom the processor knows, or the sandbox in their place. It takes the
#: parameter `sandbox`: whether that stands in for everybody (`adapters.funding.registry`).
MAY_LIST = """(o.subscription_status = 'Active' and o.plan_tier <> 'Free' and not o.funding_frozen
  and (o.funding_mode = 'debit' or o.bank_balance_cents > 0 or o.deal_funding_source is not null
    or o.sandbox_rail is not null or %(sandbox)s))"""

#: A program `p` of the organization `o` that affiliates see in the network now.
LISTED_PROGRAM = f"(p.network_review = 'Approved' and {OPEN_PROGRAM} and {MAY_LIST})"

#: Whether an affiliate `a` is in a program with performance tiers.
HAS_TIERS = """exists (select from performance_tier t
  where t.organization_id = a.organization_id and t.program_id = a.program_id)"""

#: Whether a program `p` has performance tiers.
PROGRAM_HAS_TIERS = """exists (select from performance_tier t
  where t.organization_id = p.organization_id and t.program_id = p.id)"""

#: The affiliates `m` of somebody who signed in: their account's, and those with their verified email (or none) who have
#: no account yet. It takes the parameters `account` and `email`.
OF_PERSON = "(m.deleted_at is null and (m.account_id = %(account)s or (m.account_id is null and m.email = %(email)s)))"

#: The same with those of their account's whom a brand has deleted: what these earned is still theirs.
EVER_OF_PERSON = """(m.account_id = %(account)s
  or (m.account_id is null and m.email = %(email)s and m.deleted_at is null))"""

#: One affiliate `m` of one organization. It takes the parameters `org` and `affiliate`.
OF_AFFILIATE = "(m.organization_id = %(org)s and m.id = %(affiliate)s)"

#: The states of a conversion that earns nobody anything, as a list: `c.status in …`, `c.status not in …`.
EARNS_NOTHING = _listed(statuses.EARNS_NOTHING)
#: The states of a conversion that is still to be paid.
UNPAID = _listed(statuses.UNPAID)


def restored_debt(conversion: str) -> str:
    """Return whether a conversion stands for a payment from before a restore that is not netted yet.

    `conversion` is the row's alias. By the expression of index conversion_owing.
    """
    return f"""({conversion}.source = 'restore' and {conversion}.paid_cents > {earned(conversion)}
  and not exists (select from payout_line l where l.organization_id = {conversion}.organization_id
    and l.conversion_id = {conversion}.id and l.is_open))"""


def earned(conversion: str) -> str:
    """Return what a conversion earns now, in minor units of its currency; the expression of index conversion_owing.

    `conversion` is the row's alias.
    """
    net = f"{conversion}.commission_cents - {conversion}.reversed_cents"
    return f"(case when {conversion}.status in {EARNS_NOTHING} then 0 else {net} end)"
