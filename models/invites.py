"""Invitations to a campaign. A token is known by its SHA-256 alone."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import peewee

from models.db import db
from models.mutable import Moment, Table, rate
from models.programs.programs import Program


class AffiliateInvite(Table):
    """An invitation. `slug` is what the brand asked for, `kept_slug` what of it the affiliate was given.

    Queries for what is shown add `program_name`.
    """

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    email = peewee.TextField()
    full_name = peewee.TextField()
    slug = peewee.TextField(null=True)
    kept_slug = peewee.TextField(null=True)
    personal_note_html = peewee.TextField(null=True)
    custom_commission_type = peewee.TextField(null=True)
    custom_commission_value = rate(null=True)
    custom_commission_currency = peewee.TextField(null=True)
    auto_approve = peewee.BooleanField()
    is_test = peewee.BooleanField(default=False)
    state = peewee.TextField()
    token_hash = peewee.BlobField()
    affiliate_id = peewee.UUIDField(null=True)
    invited_by = peewee.UUIDField(null=True)
    sent_at = Moment(null=True)
    expires_at = Moment()
    accepted_at = Moment(null=True)
    created_at = Moment()

    program_name: str


def stage_turn(organization_id: UUID) -> None:
    """Let only one transaction at a time add to an organization's pending invites."""
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"invites:{organization_id}",))


def insert(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert invites in one statement."""
    AffiliateInvite.insert_many(rows).execute()


def update(*, organization_id: UUID, invite_id: UUID, changes: Mapping[str, Any]) -> None:
    """Change columns of an invite that was locked in this transaction."""
    AffiliateInvite.update(changes).where(
        AffiliateInvite.organization_id == organization_id, AffiliateInvite.id == invite_id
    ).execute()


def lock(*, organization_id: UUID, invite_id: UUID) -> AffiliateInvite | None:
    """Return one invite of the organization, locked until the transaction ends."""
    return _locked(organization_id).where(AffiliateInvite.id == invite_id).first()


def lock_by_token(*, organization_id: UUID, token_hash: bytes) -> AffiliateInvite | None:
    """Return the invite that a token opens, locked until the transaction ends."""
    return _locked(organization_id).where(AffiliateInvite.token_hash == token_hash).first()


def lock_pending(*, organization_id: UUID, program_id: UUID, emails: Iterable[str]) -> list[AffiliateInvite]:
    """Lock and return what is stored as Pending for these people in a program, expired or not; in one order for all."""
    pending = _locked(organization_id).where(
        AffiliateInvite.program_id == program_id,
        AffiliateInvite.email.in_(list(emails)),
        AffiliateInvite.state == "Pending",
    )
    return list(pending.order_by(AffiliateInvite.id))


def find_by_token(*, organization_id: UUID, token_hash: bytes) -> AffiliateInvite | None:
    """Return the invite that a token opens."""
    return _shown(organization_id).where(AffiliateInvite.token_hash == token_hash).objects().first()


def page(
    *,
    organization_id: UUID,
    program_id: UUID | None,
    state: str | None,
    now: datetime,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[AffiliateInvite]:
    """Return up to `limit` invites, newest first, after the keyset position `after`; `state` is as of `now`."""
    invites = _shown(organization_id)
    if program_id is not None:
        invites = invites.where(AffiliateInvite.program_id == program_id)
    if state is not None:
        invites = invites.where(_is_in(state, now))
    if after is not None:
        position = peewee.Tuple(AffiliateInvite.created_at, AffiliateInvite.id)
        invites = invites.where(position < peewee.Tuple(*after))
    newest = invites.order_by(AffiliateInvite.created_at.desc(), AffiliateInvite.id.desc())
    return list(newest.limit(limit).objects())


def stage_closed(*, organization_id: UUID, invite_ids: Sequence[UUID], now: datetime) -> None:
    """Stage the end of invites: Revoked, or Expired where their time was over."""
    db.stage(
        "update affiliate_invite set state = case when expires_at <= %s then 'Expired' else 'Revoked' end"
        " where organization_id = %s and id = any(%s)",
        (now, organization_id, list(invite_ids)),
    )


def count_pending(*, organization_id: UUID, now: datetime) -> int:
    """Return how many invites of the organization wait for an answer."""
    pending = AffiliateInvite.select().where(
        AffiliateInvite.organization_id == organization_id, AffiliateInvite.state == "Pending"
    )
    found: int = pending.where(AffiliateInvite.expires_at > now).count()
    return found


def affiliates_among(*, organization_id: UUID, program_id: UUID, emails: Iterable[str]) -> set[str]:
    """Return which of these emails a program has an affiliate with."""
    rows = db.run(
        "select email from affiliate where organization_id = %s and program_id = %s and email = any(%s)"
        " and deleted_at is null",
        (organization_id, program_id, list(emails)),
    )
    return {email for (email,) in rows}


def slugs_of_others(*, organization_id: UUID, wanted: Iterable[tuple[str, str]], now: datetime) -> set[tuple[str, str]]:
    """Return which of these (slug, email) name a slug that the person cannot be given.

    Somebody else in the organization has it or is promised it by a pending invite; or nobody there has it, and it is an
    account's or a living link's elsewhere. Elsewhere the email plays no part: right ones must not be told from others.
    """
    pairs = list(wanted)
    if not pairs:
        return set()
    rows = db.run(
        "select wanted_slug, for_email from slugs_of_others(%(slugs)s, %(emails)s)"
        " union select w.slug, w.email from unnest(%(slugs)s, %(emails)s) as w (slug, email)"
        " where exists (select from affiliate_invite i where i.organization_id = %(org)s and i.slug = w.slug"
        " and i.email <> w.email and i.state = 'Pending' and i.expires_at > %(now)s)",
        {
            "slugs": [slug for slug, _ in pairs],
            "emails": [email for _, email in pairs],
            "org": organization_id,
            "now": now,
        },
    )
    return {(slug, email) for slug, email in rows}


def is_slug_of_somebody_else(*, slug: str, email: str) -> bool:
    """Say whether a slug is taken for this person, as in `slugs_of_others`, promises left out.

    Holds the slug until the transaction ends against everybody else who asks here.
    """
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"invited slug:{slug}",))
    return bool(db.run("select from slugs_of_others(%s, %s)", ([slug], [email])))


def standing_of(*, organization_id: UUID, affiliate_id: UUID) -> tuple[str, str]:
    """Return the status and the default slug of the affiliate that an invite led to, who may be deleted by now."""
    row = db.row(
        "select a.status, (select l.slug from tracking_link l where l.organization_id = a.organization_id"
        " and l.affiliate_id = a.id and l.is_default order by l.deleted_at desc nulls first limit 1)"
        " from affiliate a where a.organization_id = %s and a.id = %s",
        (organization_id, affiliate_id),
    )
    assert row is not None  # the row is deleted by a mark, never taken away
    return row[0], row[1]


def has_link(*, organization_id: UUID, affiliate_id: UUID, slug: str) -> bool:
    """Say whether a living link of the affiliate has this slug."""
    return bool(
        db.run(
            "select from tracking_link where organization_id = %s and affiliate_id = %s and slug = %s"
            " and deleted_at is null",
            (organization_id, affiliate_id, slug),
        )
    )


def any_org_owner(token_hash: bytes) -> UUID | None:
    """Return the organization whose invite a token opens."""
    row = db.row("select organization_id from affiliate_invite where token_hash = %s", (token_hash,))
    return row[0] if row else None


def any_org_stage_expiry(*, now: datetime) -> None:
    """Stage that what was not accepted in time is Expired; what somebody is at work on waits for the next time."""
    db.stage(
        "update affiliate_invite set state = 'Expired' where id in (select id from affiliate_invite"
        " where state = 'Pending' and expires_at <= %s for update skip locked)",
        (now,),
    )


def _shown(organization_id: UUID) -> Any:
    # Rows are taken with .objects(): the name of the program is then an attribute of the invite.
    return (
        AffiliateInvite.select(AffiliateInvite, Program.name.alias("program_name"))
        .join(
            Program,
            on=(Program.organization_id == AffiliateInvite.organization_id)
            & (Program.id == AffiliateInvite.program_id),
        )
        .where(AffiliateInvite.organization_id == organization_id)
    )


def _locked(organization_id: UUID) -> Any:
    return _shown(organization_id).for_update("FOR UPDATE", of=AffiliateInvite).objects()


def _is_in(state: str, now: datetime) -> Any:
    is_pending = AffiliateInvite.state == "Pending"
    if state == "Pending":
        return is_pending & (AffiliateInvite.expires_at > now)
    if state == "Expired":
        return (AffiliateInvite.state == "Expired") | (is_pending & (AffiliateInvite.expires_at <= now))
    return AffiliateInvite.state == state
