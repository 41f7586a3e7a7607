"""Tracking links: the slugs that name an affiliate in one program."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from domain.statuses import LinkFormat
from models.db import db
from models.prepared_statements import PreparedStatement
from models.table import Rows, Table


@dataclass(frozen=True, slots=True)
class TrackingLink:
    """A slug that names an affiliate in one program.

    `needs_program`: the slug alone is another link's or organization's, so this link's address contains its program.
    The database decides it once, at the insert.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    slug: str
    custom_alias: str | None
    is_default: bool
    format: str
    needs_program: bool
    created_at: datetime
    deleted_at: datetime | None


_TABLE = Table("tracking_link", TrackingLink)
#: Insert a tracking link; False when its program has one with this slug.
insert = _TABLE.insert


def stage_all(rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage the insert of tracking links with the same columns in one statement; the caller ensures that they are new.

    A slug is locked across the whole service, so all are locked in one order: two imports that share slugs wait for
    each other and never deadlock.
    """
    _TABLE.stage_inserts(sorted(rows, key=lambda row: str(row["slug"])))


class LinkView(NamedTuple):
    """An undeleted link as shown to users, ids as text; `destination_url` is its program's.

    `program_id` is set if the address contains it because the slug alone belongs to another link. `old_tokens` are the
    tokens of a former system that lead to it, too.
    """

    affiliate_id: str
    id: str
    slug: str
    custom_alias: str | None
    is_default: bool
    format: str
    created_at: datetime
    destination_url: str | None
    program_id: str | None
    old_tokens: tuple[str, ...] = ()

    @classmethod
    def from_values(cls, values: Mapping[str, Any], *, destination_url: str | None, needs_program: bool) -> "LinkView":
        """Return the view of a link that is about to be inserted with these values."""
        return cls(
            affiliate_id=str(values["affiliate_id"]),
            id=str(values["id"]),
            slug=values["slug"],
            custom_alias=values["custom_alias"],
            is_default=values["is_default"],
            format=values.get("format", LinkFormat.Short.value),
            created_at=values["created_at"],
            destination_url=destination_url,
            program_id=str(values["program_id"]) if needs_program else None,
        )


_VIEWS = Rows(LinkView)
# A short link leads through this service, so few rows read the destination of their program.
_OF_AFFILIATES = PreparedStatement("""
select l.affiliate_id::text, l.id::text, l.slug, l.custom_alias, l.is_default, l.format, l.created_at,
  case when l.format <> 'Short' then
    (select p.referral_destination_url from program p where p.id = l.program_id) end,
  case when l.needs_program then l.program_id::text end,
  array(select t.token from old_token t where t.organization_id = %(org)s and t.link_id = l.id order by t.token)
from tracking_link l
where l.organization_id = %(org)s and l.affiliate_id = any(%(affiliates)s::uuid[]) and l.deleted_at is null
order by l.is_default desc, l.created_at, l.id
""")
_COUNT = "select count(*) from tracking_link where organization_id = %s and affiliate_id = %s and deleted_at is null"
_RETIRE = """
update tracking_link set deleted_at = %s
where organization_id = %s and id = %s and deleted_at is null and not is_default returning id
"""
_RETIRE_ALL = """
update tracking_link set deleted_at = %s where organization_id = %s and affiliate_id = any(%s) and deleted_at is null
"""


def list_of_affiliates(*, organization_id: UUID, affiliate_ids: Iterable[UUID | str]) -> list[LinkView]:
    """Return the links of several affiliates in one statement, each default link before the others."""
    return _VIEWS.all(
        _OF_AFFILIATES, {"org": organization_id, "affiliates": f"{{{','.join(map(str, affiliate_ids))}}}"}
    )


def find(*, organization_id: UUID, affiliate_id: UUID, link_id: UUID) -> LinkView | None:
    """Return one undeleted link of an affiliate."""
    links = list_of_affiliates(organization_id=organization_id, affiliate_ids=[affiliate_id])
    return next((link for link in links if link.id == str(link_id)), None)


def count(*, organization_id: UUID, affiliate_id: UUID) -> int:
    """Return how many undeleted links an affiliate has."""
    row = db.row(_COUNT, (organization_id, affiliate_id))
    assert row is not None
    return int(row[0])


def retire(*, organization_id: UUID, link_id: UUID, at: datetime) -> bool:
    """Delete a link other than the default; False when there is no such link.

    Its slug is then free in this organization; in an address without a program it is never reused (`bare_slug`).
    """
    return bool(db.run(_RETIRE, (at, organization_id, link_id)))


def stage_retire_all(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> None:
    """Stage the deletion of every link of several affiliates."""
    db.stage(_RETIRE_ALL, (at, organization_id, list(affiliate_ids)))


_IS_ANOTHERS = """
select from tracking_link l join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where l.organization_id = %(org)s and l.slug = %(slug)s and l.deleted_at is null and a.email <> %(email)s
union all
select from old_token t join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id
join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where t.organization_id = %(org)s and t.token = %(slug)s and l.deleted_at is null and a.email <> %(email)s
limit 1
"""
_DEFAULT_SLUGS = """
select distinct on (a.email) a.email, l.slug
from affiliate a join tracking_link l on l.organization_id = a.organization_id and l.affiliate_id = a.id
where a.organization_id = %s and a.email = any(%s) and a.deleted_at is null and l.is_default and l.deleted_at is null
order by a.email, l.created_at
"""
_OWNERS = """
select l.slug, a.email
from tracking_link l join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where l.organization_id = %(org)s and l.slug = any(%(slugs)s) and l.deleted_at is null
union all
select t.token, a.email
from old_token t join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id
join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where t.organization_id = %(org)s and t.token = any(%(slugs)s) and l.deleted_at is null
"""


def is_slug_of_another(*, organization_id: UUID, slug: str, email: str) -> bool:
    """Return whether a link with this slug or old token belongs to an affiliate with another email."""
    return bool(db.run(_IS_ANOTHERS, {"org": organization_id, "slug": slug, "email": email}))


def find_default_slug(*, organization_id: UUID, email: str) -> str | None:
    """Return the default slug that this person already has in another campaign of the organization."""
    return find_default_slugs(organization_id=organization_id, emails=[email]).get(email)


def find_default_slugs(*, organization_id: UUID, emails: Sequence[str]) -> dict[str, str]:
    """Return the default slugs that people already have in the organization, by email."""
    return dict(db.run(_DEFAULT_SLUGS, (organization_id, list(emails))))


def find_owners(*, organization_id: UUID, slugs: Sequence[str]) -> dict[str, set[str]]:
    """Return the emails of the affiliates with these slugs or old tokens, by slug; free slugs are left out."""
    owners: dict[str, set[str]] = {}
    for slug, email in db.run(_OWNERS, {"org": organization_id, "slugs": list(slugs)}):
        owners.setdefault(slug, set()).add(email)
    return owners
