"""The stored data about a transfer on a rail's list."""

from collections.abc import Sequence
from uuid import UUID

from domain.restores.matching import KnownPayout, MatchingFacts, MilestoneReadiness
from domain.restores.transfers import RailTransfer
from models.db import db
from models.payouts.payouts import REFERENCE_COLUMNS
from models.table import Rows, columns

_PAYOUT = f"""
select {columns(KnownPayout, "p", is_voided="p.voided_at is not null", is_listed="p.exported_at is not null")}
from payout p where p.id = %s
"""
_payouts = Rows(KnownPayout)


def any_org_find_payout(payout_id: UUID | None) -> KnownPayout | None:
    """Return the payout of any organization with this id, or None."""
    return None if payout_id is None else _payouts.first(_PAYOUT, (payout_id,))


# Read by the index on the payouts of these affiliates: an organization has many payouts.
_BY_REFERENCE = f"""
select {columns(KnownPayout, "p", is_voided="p.voided_at is not null", is_listed="p.exported_at is not null")}
from payout p where p.organization_id = %(org)s and p.affiliate_id = any(%(affiliates)s::uuid[])
  and p.voided_at is null
  and %(reference)s in ({", ".join(f"p.{column}" for column in REFERENCE_COLUMNS.values())})
order by p.method = %(method)s desc, p.amount_cents = %(cents)s desc, p.id limit 1
"""


def find_payout_by_reference(transfer: RailTransfer, affiliate_ids: Sequence[UUID]) -> KnownPayout | None:
    """Return the payout to one of these affiliates that was paid under a transfer's reference, or None."""
    params = {
        "org": transfer.organization_id,
        "affiliates": list(affiliate_ids),
        "reference": transfer.reference,
        "method": transfer.method,
        "cents": transfer.amount_cents,
    }
    return _payouts.first(_BY_REFERENCE, params)


# The account by its method, as in `models.payouts.candidates`: the person's own account, else the
# operator's, else the wallet of an import.
_PAID_TO_ACCOUNT = """
from affiliate a left join affiliate_account k on k.id = a.account_id
where %(method)s = coalesce(k.payout_method, a.payout_method, case when a.wallet_email is not null then 'Wallet' end)
  and lower(%(account)s) = lower(case when k.payout_method is not null then k.payout_destination
    when a.payout_method is not null then a.payout_destination else a.wallet_email end)
"""
_FACTS = f"""
select exists (select from affiliate a where a.organization_id = o.id and a.id = %(affiliate)s),
  array(select a.id {_PAID_TO_ACCOUNT} and a.organization_id = o.id order by a.id),
  (select case
      when m.paid_cents > 0 or exists (select from payout p
        where p.organization_id = m.organization_id and p.milestone_id = m.id and p.voided_at is null) then 'taken'
      when d.status = 'Funded' and m.status in ('Submitted', 'Settled') then 'ready'
      else 'too_early' end
    from deal_milestone m join deal d on d.organization_id = m.organization_id and d.id = m.deal_id
    where m.organization_id = o.id and m.id = %(milestone)s),
  exists (select from deal d join deal_milestone m on m.organization_id = d.organization_id and m.deal_id = d.id
    where d.organization_id = o.id and d.status in ('Accepted', 'Funded') and m.paid_cents = 0
      and (d.affiliate_id = %(affiliate)s or (%(affiliate)s::uuid is null
        and d.affiliate_id in (select a.id {_PAID_TO_ACCOUNT} and a.organization_id = o.id))))
from organization o where o.id = %(org)s
"""
_WHOSE_ACCOUNT = f"select distinct a.organization_id {_PAID_TO_ACCOUNT} order by 1"


def any_org_list_organizations_paying(*, method: str, account: str) -> list[UUID]:
    """Return the organizations that have affiliates who are paid to an account."""
    return [organization_id for (organization_id,) in db.run(_WHOSE_ACCOUNT, {"method": method, "account": account})]


def any_org_find_facts(transfer: RailTransfer, payout: KnownPayout | None) -> MatchingFacts:
    """Return the data for matching a transfer; `payout` is the one that it names.

    Budget: 1 statement, and another one if that payout does not exist.
    """
    row = db.row(
        _FACTS,
        {
            "org": transfer.organization_id,
            "affiliate": transfer.affiliate_id,
            "account": transfer.account,
            "method": transfer.method,
            "milestone": transfer.milestone_id,
        },
    )
    has_affiliate, paid_to_account, milestone, has_unpaid = row or (False, [], None, False)
    if payout is None and transfer.organization_id is not None:
        affiliate_ids = [transfer.affiliate_id] if transfer.affiliate_id else paid_to_account
        payout = find_payout_by_reference(transfer, affiliate_ids)
    return MatchingFacts(
        payout=payout,
        has_organization=row is not None,
        has_affiliate=has_affiliate,
        paid_to_account=tuple(paid_to_account),
        milestone=MilestoneReadiness(milestone) if milestone else None,
        has_unpaid_milestones=has_unpaid,
    )
