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

    `needs_program`: the slug alone is another link's or another organization's, so this one is shared with its program.
    The database decides it once, and for ever.
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


def insert(values: Mapping[str, Any]) -> bool:
    """Insert a tracking link; False when its program has one with this slug."""
    return _TABLE.insert(values)


def stage_all(rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage the insert of tracking links with the same columns, in one statement; that they are new is the caller's.

    A slug is locked in the whole service, so all are locked in one order: two imports that share slugs wait for each
    other and no more.
    """
    _TABLE.stage_inserts(sorted(rows, key=lambda row: str(row["slug"])))


class ShownLink(NamedTuple):
    """A living link as it is shown, ids as texts; `destination_url` is its program's.

    `program_id` is there when the link is shared with it, because its slug alone is another one's.
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

    @classmethod
    def of(cls, values: Mapping[str, Any], *, destination_url: str | None, needs_program: bool) -> "ShownLink":
        """Return a link that is about to be inserted with these values."""
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


_SHOWN = Rows(ShownLink)
# A short link leads through us, so that few have to ask where their program is.
_OF_AFFILIATES = PreparedStatement("""
select l.affiliate_id::text, l.id::text, l.slug, l.custom_alias, l.is_default, l.format, l.created_at,
  case when l.format <> 'Short' then
    (select p.referral_destination_url from program p where p.id = l.program_id) end,
  case when l.needs_program then l.program_id::text end
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


def of_affiliates(*, organization_id: UUID, affiliate_ids: Iterable[UUID | str]) -> list[ShownLink]:
    """Return the links of several affiliates in one statement, the default one of each before its others."""
    return _SHOWN.all(
        _OF_AFFILIATES, {"org": organization_id, "affiliates": f"{{{','.join(map(str, affiliate_ids))}}}"}
    )


def find(*, organization_id: UUID, affiliate_id: UUID, link_id: UUID) -> ShownLink | None:
    """Return one living link of an affiliate."""
    held = of_affiliates(organization_id=organization_id, affiliate_ids=[affiliate_id])
    return next((link for link in held if link.id == str(link_id)), None)


def count(*, organization_id: UUID, affiliate_id: UUID) -> int:
    """Return how many living links an affiliate has."""
    row = db.row(_COUNT, (organization_id, affiliate_id))
    assert row is not None
    return int(row[0])


def retire(*, organization_id: UUID, link_id: UUID, at: datetime) -> bool:
    """End a living link other than the default. False when there is no such link.

    Its slug is free in this organization from then on; alone in an address it is nobody else's ever (`bare_slug`).
    """
    return bool(db.run(_RETIRE, (at, organization_id, link_id)))


def stage_retire_all(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> None:
    """Stage the end of every link of several affiliates."""
    db.stage(_RETIRE_ALL, (at, organization_id, list(affiliate_ids)))


_IS_SOMEBODY_ELSES = """
select from tracking_link l join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where l.organization_id = %s and l.slug = %s and l.deleted_at is null and a.email <> %s limit 1
"""
_SLUGS_OF = """
select distinct on (a.email) a.email, l.slug
from affiliate a join tracking_link l on l.organization_id = a.organization_id and l.affiliate_id = a.id
where a.organization_id = %s and a.email = any(%s) and a.deleted_at is null and l.is_default and l.deleted_at is null
order by a.email, l.created_at
"""
_OWNERS = """
select l.slug, a.email
from tracking_link l join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where l.organization_id = %s and l.slug = any(%s) and l.deleted_at is null
"""


def is_slug_of_somebody_else(*, organization_id: UUID, slug: str, email: str) -> bool:
    """Say whether a link with this slug belongs to an affiliate with another email."""
    return bool(db.run(_IS_SOMEBODY_ELSES, (organization_id, slug, email)))


def slug_of(*, organization_id: UUID, email: str) -> str | None:
    """Return the default slug that this person has in another campaign of the organization already."""
    return slugs_of(organization_id=organization_id, emails=[email]).get(email)


def slugs_of(*, organization_id: UUID, emails: Sequence[str]) -> dict[str, str]:
    """Return the default slugs that people have in the organization already, by their email."""
    return dict(db.run(_SLUGS_OF, (organization_id, list(emails))))


def owners(*, organization_id: UUID, slugs: Sequence[str]) -> dict[str, set[str]]:
    """Return whose living links these slugs are: emails by slug, free ones left out."""
    found: dict[str, set[str]] = {}
    for slug, email in db.run(_OWNERS, (organization_id, list(slugs))):
        found.setdefault(slug, set()).add(email)
    return found
