"""Lists of deals for brands and creators, newest first, each with its milestones."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.listing import Position
from models.table import Rows, columns


class ListedMilestone(NamedTuple):
    """A milestone in a list, with the payout that pays it. Ids are text."""

    deal_id: str
    id: str
    seq: int
    title: str
    amount_cents: int
    take_cents: int | None
    due_at: datetime | None
    status: str
    auto_release_at: datetime | None
    submission_urls: Sequence[str]
    changes_requested: int
    change_note: str | None
    opened_by: str | None
    dispute_reason: str | None
    proposed_resolution: str | None
    disputed_at: datetime | None
    to_affiliate_cents: int | None
    paid_cents: int
    returned_cents: int
    payout_id: str | None


class ListedDeal(NamedTuple):
    """A deal in a list. Ids are text; `charge_state` to `charge_detail` are of its newest charge."""

    id: str
    program_id: str
    affiliate_id: str
    title: str
    currency: str
    status: str
    escrow_cents: int
    charged_cents: int
    take_cents: int
    paid_cents: int
    returned_cents: int
    is_test: bool
    created_at: datetime
    offered_at: datetime | None
    answered_at: datetime | None
    funded_at: datetime | None
    ended_at: datetime | None
    charge_state: str | None
    charge_id: str | None
    charge_detail: str | None
    milestones: Sequence[Any]


_DEAL = {
    "id": "d.id::text",
    "program_id": "d.program_id::text",
    "affiliate_id": "d.affiliate_id::text",
    "charge_state": "c.state",
    "charge_id": "c.reference",
    "charge_detail": "c.detail",
    "milestones": "'{}'::text[]",
}
_SELECT = f"""
select {columns(ListedDeal, "d", **_DEAL)}
from deal d
left join lateral (select r.state, r.reference, r.detail from deal_request r
  where r.organization_id = d.organization_id and r.deal_id = d.id and r.kind = 'charge'
  order by r.number desc limit 1) c on true"""
_OF_BRAND = {
    "deal_id": "d.id = %(deal_id)s",
    "program_id": "d.program_id = %(program_id)s",
    "affiliate_id": "d.affiliate_id = %(affiliate_id)s",
    "status": "d.status = %(status)s",
    "before": "(d.created_at, d.id) < (%(before)s, %(before_id)s)",
}
_OF_PERSON = """
join affiliate a on a.organization_id = d.organization_id and a.id = d.affiliate_id
where (a.account_id = %(account)s or (a.account_id is null and a.email = %(email)s))
  and d.status <> 'Draft' and (%(deal_id)s::uuid is null or d.id = %(deal_id)s)
  and (%(before)s::timestamptz is null or (d.created_at, d.id) < (%(before)s, %(before_id)s))"""
_NEWEST_FIRST = "order by d.created_at desc, d.id desc limit %(limit)s"
_MILESTONE = {"deal_id": "m.deal_id::text", "id": "m.id::text", "payout_id": "p.id::text"}
_MILESTONES = f"""
select {columns(ListedMilestone, "m", **_MILESTONE)}
from deal_milestone m
left join payout p on p.organization_id = m.organization_id and p.milestone_id = m.id and p.voided_at is null
where m.deal_id = any(%s::uuid[]) order by m.deal_id, m.seq
"""
_deals, _milestones = Rows(ListedDeal), Rows(ListedMilestone)


def page(
    *, organization_id: UUID, filters: Mapping[str, object], after: Position | None, limit: int
) -> list[ListedDeal]:
    """Return up to `limit` deals of a brand, newest first, after the keyset position `after`.

    `filters` are values of program_id, affiliate_id and status; None does not filter. Budget: 2 round trips.
    """
    before, before_id = after or (None, None)
    return _of_brand(organization_id, {**filters, "before": before, "before_id": before_id}, limit)


def find(*, organization_id: UUID, deal_id: UUID) -> ListedDeal | None:
    """Return one deal of a brand with its milestones, or None. Budget: 2 round trips."""
    deals = _of_brand(organization_id, {"deal_id": deal_id}, 1)
    return deals[0] if deals else None


def any_org_page(
    *,
    account_id: UUID | None,
    email: str | None,
    deal_id: UUID | None = None,
    after: Position | None = None,
    limit: int,
) -> list[ListedDeal]:
    """Return up to `limit` deals that any brand offered to a person, newest first; no drafts.

    `email` is their verified one, or None; `deal_id` narrows to one deal. Budget: 2 round trips.
    """
    before, before_id = after or (None, None)
    params: dict[str, object] = {"account": account_id, "email": email, "deal_id": deal_id}
    params |= {"before": before, "before_id": before_id, "limit": limit}
    return _with_milestones(_deals.all(f"{_SELECT}{_OF_PERSON} {_NEWEST_FIRST}", params))


def _of_brand(organization_id: UUID, values: Mapping[str, object], limit: int) -> list[ListedDeal]:
    conditions = [_OF_BRAND[name] for name in _OF_BRAND if values.get(name) is not None]
    sql = " and ".join([f"{_SELECT} where d.organization_id = %(org)s", *conditions])
    return _with_milestones(_deals.all(f"{sql} {_NEWEST_FIRST}", {**values, "org": organization_id, "limit": limit}))


def _with_milestones(deals: Sequence[ListedDeal]) -> list[ListedDeal]:
    if not deals:
        return []
    by_deal: defaultdict[str, list[ListedMilestone]] = defaultdict(list)
    for milestone in _milestones.all(_MILESTONES, ([UUID(deal.id) for deal in deals],)):
        by_deal[milestone.deal_id].append(milestone)
    return [deal._replace(milestones=by_deal[deal.id]) for deal in deals]
