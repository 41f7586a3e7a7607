"""The links of a person, across brands, with their recent clicks."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.conditions import OF_PERSON
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


class OwnLink(NamedTuple):
    """An undeleted link for its affiliate, ids as text; the rest as in `LinkView`. `clicks` are recent visits."""

    affiliate_id: str
    id: str
    slug: str
    custom_alias: str | None
    is_default: bool
    format: str
    created_at: datetime
    destination_url: str | None
    program_id: str | None
    of_program_id: str
    program_name: str
    organization_name: str
    affiliate_status: str
    clicks: int


_IS_VISIT = "not k.is_duplicate and k.outcome <> 'blocked'"
_CLICKS = f"""
(select count(*) from click k where k.organization_id = l.organization_id and k.affiliate_id = l.affiliate_id
   and k.occurred_at >= %(since)s and k.slug = l.slug and {_IS_VISIT})
+ (select coalesce(sum(k.number), 0)::bigint from click_hour k where k.organization_id = l.organization_id
   and k.program_id = l.program_id and k.affiliate_id = l.affiliate_id and k.hour >= %(since)s and k.slug = l.slug
   and {_IS_VISIT})"""
_COLUMNS = columns(
    OwnLink,
    "l",
    affiliate_id="l.affiliate_id::text",
    id="l.id::text",
    destination_url="case when l.format <> 'Short' then p.referral_destination_url end",
    program_id="case when l.needs_program then l.program_id::text end",
    of_program_id="l.program_id::text",
    program_name="p.name",
    organization_name="o.name",
    affiliate_status="m.status",
    clicks=_CLICKS,
)
_ANY_ORG_LINKS = PreparedStatement(f"""
select {_COLUMNS}
from affiliate m
join tracking_link l on l.organization_id = m.organization_id and l.affiliate_id = m.id and l.deleted_at is null
join program p on p.organization_id = m.organization_id and p.id = m.program_id and p.archived_at is null
join organization o on o.id = m.organization_id
where {OF_PERSON}
order by o.name, p.name, l.affiliate_id, l.is_default desc, l.created_at, l.id
""")
_ROWS = Rows(OwnLink)


def any_org_list_links(*, account_id: UUID | None, email: str | None, since: datetime) -> list[OwnLink]:
    """Return a person's links by brand and program, the default one of each first; clicks are those since `since`.

    `email` is their verified one, or None. Budget: 1 statement.
    """
    return _ROWS.all(_ANY_ORG_LINKS, {"account": account_id, "email": email, "since": since})


class LinkOwner(NamedTuple):
    """The affiliate that a link belongs to."""

    organization_id: UUID
    affiliate_id: UUID


_OWNERS = Rows(LinkOwner)
_ANY_ORG_OWNER = f"""
select l.organization_id, l.affiliate_id
from tracking_link l join affiliate m on m.organization_id = l.organization_id and m.id = l.affiliate_id
where l.id = %(id)s and l.deleted_at is null and {OF_PERSON}
"""


def any_org_find_owner(*, account_id: UUID | None, email: str | None, link_id: UUID) -> LinkOwner | None:
    """Return which of a person's affiliates has an undeleted link; None for a link that is not theirs."""
    return _OWNERS.first(_ANY_ORG_OWNER, {"account": account_id, "email": email, "id": link_id})
