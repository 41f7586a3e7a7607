"""Invitations to a campaign. A token is known by its SHA-256 alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from models import advisory_locks
from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class AffiliateInvite:
    """An invitation. `slug` is what the brand asked for, `kept_slug` what of it the affiliate was given."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    email: str
    full_name: str
    slug: str | None
    kept_slug: str | None
    personal_note_html: str | None
    custom_commission_type: str | None
    custom_commission_value: Decimal | None
    custom_commission_currency: str | None
    auto_approve: bool
    is_test: bool
    state: str
    token_hash: bytes
    affiliate_id: UUID | None
    invited_by: UUID | None
    sent_at: datetime | None
    expires_at: datetime
    accepted_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NamedInvite(AffiliateInvite):
    """An invitation with the name of its program."""

    program_name: str


_TABLE = Table("affiliate_invite", AffiliateInvite)
_NAMED_ROWS = Rows(NamedInvite)
_NAMED = columns(NamedInvite, "i", program_name="p.name")
_OF_ITS_PROGRAM = "p.organization_id = i.organization_id and p.id = i.program_id"


def stage(invites: Sequence[Mapping[str, Any]]) -> None:
    """Stage the insert of invites, in one statement."""
    _TABLE.stage_inserts(invites)


_SELECT = (
    f"select {_NAMED} from affiliate_invite i join program p on {_OF_ITS_PROGRAM} where i.organization_id = %(org)s"
)
_BY_TOKEN = f"{_SELECT} and i.token_hash = %(token)s"
_LOCK_BY_TOKEN = f"{_BY_TOKEN} for update of i"
_LOCK = f"{_SELECT} and i.id = %(id)s for update of i"
_LOCK_PENDING = f"""
{_SELECT} and i.program_id = %(program)s and i.email = any(%(emails)s) and i.state = 'Pending'
order by i.id for update of i
"""


def lock(*, organization_id: UUID, invite_id: UUID) -> NamedInvite | None:
    """Return one invite of the organization, locked until the transaction ends."""
    return _NAMED_ROWS.first(_LOCK, {"org": organization_id, "id": invite_id})


def lock_by_token(*, organization_id: UUID, token_hash: bytes) -> NamedInvite | None:
    """Return the invite that a token opens, locked until the transaction ends."""
    return _NAMED_ROWS.first(_LOCK_BY_TOKEN, {"org": organization_id, "token": token_hash})


def lock_pending(*, organization_id: UUID, program_id: UUID, emails: Iterable[str]) -> list[NamedInvite]:
    """Lock and return what is stored as Pending for these people in a program, expired or not; in one order for all."""
    return _NAMED_ROWS.all(_LOCK_PENDING, {"org": organization_id, "program": program_id, "emails": list(emails)})


def find_by_token(*, organization_id: UUID, token_hash: bytes) -> NamedInvite | None:
    """Return the invite that a token opens."""
    return _NAMED_ROWS.first(_BY_TOKEN, {"org": organization_id, "token": token_hash})


_RENEW = f"""
update affiliate_invite i set state = 'Pending', token_hash = %(token)s, sent_at = %(now)s, expires_at = %(until)s
from program p where i.organization_id = %(org)s and i.id = %(id)s and {_OF_ITS_PROGRAM}
returning {_NAMED}
"""
_ACCEPT = f"""
update affiliate_invite i set state = 'Accepted', accepted_at = %(now)s, affiliate_id = %(affiliate)s,
  kept_slug = %(kept)s
from program p where i.organization_id = %(org)s and i.id = %(id)s and {_OF_ITS_PROGRAM}
returning {_NAMED}
"""
_REVOKE = "update affiliate_invite set state = 'Revoked' where organization_id = %s and id = %s"


def renew(invite: NamedInvite, *, token_hash: bytes, now: datetime, until: datetime) -> NamedInvite:
    """Give a locked invite another token and another end, as sent just now, and return it as it is then."""
    return _changed(invite, _RENEW, {"token": token_hash, "now": now, "until": until})


def accept(invite: NamedInvite, *, affiliate_id: UUID, kept_slug: str | None, now: datetime) -> NamedInvite:
    """Say which affiliate a locked invite led to, with what was kept of its slug, and return it as it is then."""
    return _changed(invite, _ACCEPT, {"affiliate": affiliate_id, "kept": kept_slug, "now": now})


def stage_revoked(invite: NamedInvite) -> None:
    """Stage the end of a locked invite."""
    db.stage(_REVOKE, (invite.organization_id, invite.id))


def _changed(invite: NamedInvite, sql: str, changes: Mapping[str, object]) -> NamedInvite:
    changed = _NAMED_ROWS.first(sql, {"org": invite.organization_id, "id": invite.id, **changes})
    assert changed is not None  # it is locked
    return changed


# What is stored as Pending is Expired from its end on.
_PAGE = f"""
{_SELECT} and (%(program)s::uuid is null or i.program_id = %(program)s)
  and (%(state)s::text is null or %(state)s
    = case when i.state = 'Pending' and i.expires_at <= %(now)s then 'Expired' else i.state end)
  and (%(at)s::timestamptz is null or (i.created_at, i.id) < (%(at)s, %(after)s::uuid))
order by i.created_at desc, i.id desc limit %(limit)s
"""


def page(
    *,
    organization_id: UUID,
    program_id: UUID | None,
    state: str | None,
    now: datetime,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[NamedInvite]:
    """Return up to `limit` invites, newest first, after the keyset position `after`; `state` is as of `now`."""
    at, id = after or (None, None)
    wanted = {"org": organization_id, "program": program_id, "state": state, "now": now}
    return _NAMED_ROWS.all(_PAGE, wanted | {"at": at, "after": id, "limit": limit})


_CLOSE = """
update affiliate_invite set state = case when expires_at <= %s then 'Expired' else 'Revoked' end
where organization_id = %s and id = any(%s)
"""


def stage_closed(*, organization_id: UUID, invite_ids: Sequence[UUID], now: datetime) -> None:
    """Stage the end of invites: Revoked, or Expired where their time was over."""
    db.stage(_CLOSE, (now, organization_id, list(invite_ids)))


_COUNT_PENDING = """
select count(*) from affiliate_invite where organization_id = %s and state = 'Pending' and expires_at > %s
"""


def count_pending(*, organization_id: UUID, now: datetime) -> int:
    """Return how many invites of the organization wait for an answer."""
    row = db.row(_COUNT_PENDING, (organization_id, now))
    assert row is not None
    return int(row[0])


_SLUGS_OF_OTHERS = """
select wanted_slug, for_email from slugs_of_others(%(slugs)s, %(emails)s)
union
select w.slug, w.email from unnest(%(slugs)s, %(emails)s) as w (slug, email)
where exists (select from affiliate_invite i where i.organization_id = %(org)s and i.slug = w.slug
  and i.email <> w.email and i.state = 'Pending' and i.expires_at > %(now)s)
"""


def slugs_of_others(*, organization_id: UUID, wanted: Iterable[tuple[str, str]], now: datetime) -> set[tuple[str, str]]:
    """Return which of these (slug, email) name a slug that the person cannot be given.

    Somebody else in the organization has it or is promised it by a pending invite; or nobody there has it, and it is an
    account's or a living link's elsewhere. Elsewhere the email plays no part: right ones must not be told from others.
    """
    pairs = list(wanted)
    if not pairs:
        return set()
    named = {"slugs": [slug for slug, _ in pairs], "emails": [email for _, email in pairs]}
    return {(slug, email) for slug, email in db.run(_SLUGS_OF_OTHERS, named | {"org": organization_id, "now": now})}


def is_slug_of_somebody_else(*, slug: str, email: str) -> bool:
    """Say whether a slug is taken for this person, as in `slugs_of_others`, promises left out.

    Holds the slug until the transaction ends against everybody else who asks here.
    """
    advisory_locks.stage_invited_slug_lock(slug)
    return bool(db.run("select from slugs_of_others(%s, %s)", ([slug], [email])))


class InvitedAffiliate(NamedTuple):
    """What became of the affiliate that an invite led to: their status and their default slug."""

    status: str
    slug: str


_OUTCOME = """
select a.status, (select l.slug from tracking_link l where l.organization_id = a.organization_id
  and l.affiliate_id = a.id and l.is_default order by l.deleted_at desc nulls first limit 1)
from affiliate a where a.organization_id = %s and a.id = %s
"""


def outcome(*, organization_id: UUID, affiliate_id: UUID) -> InvitedAffiliate:
    """Return what became of the affiliate that an invite led to, who may be deleted by now."""
    found = Rows(InvitedAffiliate).first(_OUTCOME, (organization_id, affiliate_id))
    assert found is not None  # the row is deleted by a mark, never taken away
    return found


_HAS_LINK = """
select from tracking_link where organization_id = %s and affiliate_id = %s and slug = %s and deleted_at is null
"""


def has_link(*, organization_id: UUID, affiliate_id: UUID, slug: str) -> bool:
    """Say whether a living link of the affiliate has this slug."""
    return bool(db.run(_HAS_LINK, (organization_id, affiliate_id, slug)))


def any_org_owner(token_hash: bytes) -> UUID | None:
    """Return the organization whose invite a token opens."""
    row = db.row("select organization_id from affiliate_invite where token_hash = %s", (token_hash,))
    return row[0] if row else None


_ANY_ORG_EXPIRY = """
update affiliate_invite set state = 'Expired' where (organization_id, id) in
  (select organization_id, id from affiliate_invite where state = 'Pending' and expires_at <= %s for update skip locked)
"""


def any_org_stage_expiry(*, now: datetime) -> None:
    """Stage that what was not accepted in time is Expired; what somebody is at work on waits for the next time."""
    db.stage(_ANY_ORG_EXPIRY, (now,))
