"""Invitations to a campaign. Of a token only the SHA-256 is stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from models import advisory_locks
from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class AffiliateInvite:
    """An invitation. `slug` is the one that the brand requested, `kept_slug` the one of it that the affiliate got."""

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
class InviteWithProgram(AffiliateInvite):
    """An invitation with the name of its program."""

    program_name: str


_TABLE = Table("affiliate_invite", AffiliateInvite)
#: Stage the insert of invites, in one statement.
stage = _TABLE.stage_inserts
_NAMED_ROWS = Rows(InviteWithProgram)
_NAMED = columns(InviteWithProgram, "i", program_name="p.name")
_OF_ITS_PROGRAM = "p.organization_id = i.organization_id and p.id = i.program_id"


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


def lock(*, organization_id: UUID, invite_id: UUID) -> InviteWithProgram | None:
    """Return one invite of the organization, locked until the transaction ends."""
    return _NAMED_ROWS.first(_LOCK, {"org": organization_id, "id": invite_id})


def lock_by_token(*, organization_id: UUID, token_hash: bytes) -> InviteWithProgram | None:
    """Return the invite that a token opens, locked until the transaction ends."""
    return _NAMED_ROWS.first(_LOCK_BY_TOKEN, {"org": organization_id, "token": token_hash})


def lock_pending(*, organization_id: UUID, program_id: UUID, emails: Iterable[str]) -> list[InviteWithProgram]:
    """Lock and return the invites stored as Pending for these emails in a program, expired or not, ordered by id."""
    return _NAMED_ROWS.all(_LOCK_PENDING, {"org": organization_id, "program": program_id, "emails": list(emails)})


def find_by_token(*, organization_id: UUID, token_hash: bytes) -> InviteWithProgram | None:
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


def renew(invite: InviteWithProgram, *, token_hash: bytes, now: datetime, until: datetime) -> InviteWithProgram:
    """Renew a locked invite with another token and expiry, as sent just now, and return it."""
    return _update(invite, _RENEW, {"token": token_hash, "now": now, "until": until})


def accept(invite: InviteWithProgram, *, affiliate_id: UUID, kept_slug: str | None, now: datetime) -> InviteWithProgram:
    """Mark a locked invite as accepted by an affiliate, with the slug that it got, and return it."""
    return _update(invite, _ACCEPT, {"affiliate": affiliate_id, "kept": kept_slug, "now": now})


def stage_revoke(invite: InviteWithProgram) -> None:
    """Stage that a locked invite is revoked."""
    db.stage(_REVOKE, (invite.organization_id, invite.id))


def _update(invite: InviteWithProgram, sql: str, changes: Mapping[str, object]) -> InviteWithProgram:
    updated = _NAMED_ROWS.first(sql, {"org": invite.organization_id, "id": invite.id, **changes})
    assert updated is not None  # it is locked
    return updated


# An invite stored as Pending is Expired from `expires_at` on.
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
) -> list[InviteWithProgram]:
    """Return up to `limit` invites, newest first, after the keyset position `after`; `state` is as of `now`."""
    at, id = after or (None, None)
    params = {"org": organization_id, "program": program_id, "state": state, "now": now}
    return _NAMED_ROWS.all(_PAGE, params | {"at": at, "after": id, "limit": limit})


_CLOSE = """
update affiliate_invite set state = case when expires_at <= %s then 'Expired' else 'Revoked' end
where organization_id = %s and id = any(%s)
"""


def stage_close(*, organization_id: UUID, invite_ids: Sequence[UUID], now: datetime) -> None:
    """Stage that invites are Revoked, or Expired if their time was over."""
    db.stage(_CLOSE, (now, organization_id, list(invite_ids)))


_COUNT_PENDING = """
select count(*) from affiliate_invite where organization_id = %s and state = 'Pending' and expires_at > %s
"""


def count_pending(*, organization_id: UUID, now: datetime) -> int:
    """Return how many invites of the organization are pending."""
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


def find_taken_slugs(
    *, organization_id: UUID, requested: Iterable[tuple[str, str]], now: datetime
) -> set[tuple[str, str]]:
    """Return those of these (slug, email) whose slug the person with that email cannot get.

    A slug is taken if another person in the organization has it or is promised it by a pending invite. It is also taken
    if it belongs to no one there but to an account or a living link elsewhere, whatever the email: the result must not
    reveal which email has it.
    """
    pairs = list(requested)
    if not pairs:
        return set()
    params = {"slugs": [slug for slug, _ in pairs], "emails": [email for _, email in pairs]}
    return {(slug, email) for slug, email in db.run(_SLUGS_OF_OTHERS, params | {"org": organization_id, "now": now})}


def lock_slug_and_check_taken(*, slug: str, email: str) -> bool:
    """Return whether a slug is taken for this person, as in `find_taken_slugs` without the promises.

    The slug is locked until the transaction ends: another call for it waits.
    """
    advisory_locks.stage_invited_slug_lock(slug)
    return bool(db.run("select from slugs_of_others(%s, %s)", ([slug], [email])))


class InvitedAffiliate(NamedTuple):
    """The affiliate who accepted an invite: their status and their default slug."""

    status: str
    slug: str


_OUTCOME = """
select a.status, (select l.slug from tracking_link l where l.organization_id = a.organization_id
  and l.affiliate_id = a.id and l.is_default order by l.deleted_at desc nulls first limit 1)
from affiliate a where a.organization_id = %s and a.id = %s
"""


def find_invited_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> InvitedAffiliate:
    """Return the affiliate who accepted an invite, who may be deleted by now."""
    affiliate = Rows(InvitedAffiliate).first(_OUTCOME, (organization_id, affiliate_id))
    assert affiliate is not None  # a deleted affiliate keeps its row
    return affiliate


_HAS_LINK = """
select from tracking_link where organization_id = %s and affiliate_id = %s and slug = %s and deleted_at is null
"""


def has_link(*, organization_id: UUID, affiliate_id: UUID, slug: str) -> bool:
    """Return whether the affiliate has a living link with this slug."""
    return bool(db.run(_HAS_LINK, (organization_id, affiliate_id, slug)))


def any_org_find_organization(token_hash: bytes) -> UUID | None:
    """Return the organization whose invite a token opens."""
    row = db.row("select organization_id from affiliate_invite where token_hash = %s", (token_hash,))
    return row[0] if row else None


_ANY_ORG_EXPIRY = """
update affiliate_invite set state = 'Expired' where (organization_id, id) in
  (select organization_id, id from affiliate_invite where state = 'Pending' and expires_at <= %s for update skip locked)
"""


def any_org_stage_expiry(*, now: datetime) -> None:
    """Stage that pending invites past their time are Expired; locked ones wait for the next time."""
    db.stage(_ANY_ORG_EXPIRY, (now,))
