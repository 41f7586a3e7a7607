"""Checkout doors: the visits through them, and the campaign that a door's address names. It never names a tenant."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.clicks.public_links import Link, program_id_from_text
from models.conditions import OPEN_PROGRAM
from models.db import db
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Door:
    """An enabled door of an open campaign, with its owner and thank-you page."""

    organization_id: UUID
    program_id: UUID
    thank_you_url: str | None


_DOORS = Rows(Door)
_FIND = Lookup(f"""
select {columns(Door, program_id="p.id", thank_you_url="p.hosted_checkout_thank_you_url")} from program p
where (p.id = %(id)s or (%(id)s::uuid is null and p.slug = %(slug)s))
  and p.hosted_checkout_door_enabled and {OPEN_PROGRAM}
order by p.id limit 2
""")


def any_org_find(program: str) -> Door | None:
    """Return the open door of a program by its id or slug; None if several brands have one with this slug.

    Budget: 1 statement.
    """
    program_id = program_id_from_text(program)
    doors = _DOORS.all(_FIND, {"id": program_id, "slug": program.lower()})
    return doors[0] if len(doors) == 1 else None


_REMEMBER = PreparedStatement("""
insert into door_visit (organization_id, program_id, affiliate_id, slug, visitor, email_normalized, is_test,
  first_at, last_at, expires_at)
values (%(org)s, %(program)s, %(affiliate)s, %(slug)s, %(visitor)s, %(email)s, %(is_test)s,
  %(at)s, %(at)s, %(expires_at)s)
on conflict (organization_id, program_id, slug, affiliate_id, visitor, email_normalized) do update set
  is_test = excluded.is_test,
  first_at = case when door_visit.expires_at < excluded.first_at then excluded.first_at
    else least(door_visit.first_at, excluded.first_at) end,
  last_at = greatest(door_visit.last_at, excluded.last_at),
  expires_at = greatest(door_visit.expires_at, excluded.expires_at)
""")


def stage_visit(link: Link, *, visitor: str | None = None, email_normalized: str | None = None, at: datetime) -> None:
    """Stage a visit by a link, of a browser or an email inbox. A repeated visit extends the existing row."""
    db.stage(
        _REMEMBER,
        {
            "org": link.organization_id,
            "program": link.program_id,
            "affiliate": link.affiliate_id,
            "slug": link.slug,
            "visitor": visitor,
            "email": email_normalized,
            "is_test": link.is_test,
            "at": at,
            "expires_at": at + timedelta(days=link.cookie_window_days),
        },
    )
