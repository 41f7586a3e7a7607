"""Writes invites with their tokens and mails the links.

The token is in the link that is returned and mailed, and nowhere else: we keep its hash.
Source: core spec, "Affiliate invites".
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import settings
from adapters.mail import html
from domain import invites as rules
from domain.invites import InviteState
from domain.refused import Refused
from models import ids, invites
from models.invites import AffiliateInvite
from models.organization import organizations
from models.programs import programs
from pipelines.invites import letter

_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Inviter:
    """Who invites, and whether with a test key, which makes test affiliates."""

    member_id: UUID
    is_test: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """An invite that was just sent, with the link that opens it."""

    invite: AffiliateInvite
    accept_url: str


def token_hash(token: str) -> bytes:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def write(
    *, program: programs.Program, wanted: Sequence[Mapping[str, Any]], inviter: Inviter, now: datetime
) -> list[Sent]:
    """Write invites to a program and mail their links. Raises Refused 409 pending_invites_limit_reached."""
    if not wanted:
        return []
    check_room(organization_id=program.organization_id, adding=len(wanted), now=now)
    rows, written = [], []
    for invitation in wanted:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        row = _columns(program, invitation, inviter, now) | _fresh(token, now)
        rows.append(row)
        written.append((_shown(row, program), token))
    invites.insert(rows)
    return _mail(program, written, now)


def write_again(*, program: programs.Program, invite: AffiliateInvite, now: datetime) -> list[Sent]:
    """Give a locked invite a new token and a new end, and mail its link."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    changes = _fresh(token, now)
    invites.update(organization_id=invite.organization_id, invite_id=invite.id, changes=changes)
    for name, value in changes.items():
        setattr(invite, name, value)
    return _mail(program, [(invite, token)], now)


def check_room(*, organization_id: UUID, adding: int, now: datetime) -> None:
    """Refuse with 409 pending_invites_limit_reached when so many more would be too many."""
    if invites.count_pending(organization_id=organization_id, now=now) + adding > rules.MOST_PENDING:
        message = f"An organization may have {rules.MOST_PENDING} pending invites; revoke some, or wait for answers."
        raise Refused(409, "pending_invites_limit_reached", message)


def _columns(program: programs.Program, wanted: Mapping[str, Any], inviter: Inviter, now: datetime) -> dict[str, Any]:
    note = html.clean(wanted["personal_note_html"] or "").strip()
    return {
        "id": ids.new_id(),
        "organization_id": program.organization_id,
        "program_id": program.id,
        "email": wanted["email"],
        "full_name": wanted["full_name"],
        "slug": wanted["slug"],
        "personal_note_html": note or None,
        "custom_commission_type": wanted.get("custom_commission_type"),
        "custom_commission_value": wanted.get("custom_commission_value"),
        "custom_commission_currency": wanted.get("custom_commission_currency"),
        "auto_approve": wanted["auto_approve"],
        "is_test": inviter.is_test,
        "invited_by": inviter.member_id,
        "created_at": now,
    }


def _fresh(token: str, now: datetime) -> dict[str, Any]:
    return {
        "state": InviteState.Pending.value,
        "token_hash": token_hash(token),
        "sent_at": now,
        "expires_at": now + rules.LIFETIME,
    }


def _shown(row: Mapping[str, Any], program: programs.Program) -> AffiliateInvite:
    invite = AffiliateInvite(**row)
    invite.program_name = program.name
    return invite


def _mail(program: programs.Program, written: Sequence[tuple[AffiliateInvite, str]], now: datetime) -> list[Sent]:
    organization = organizations.find(program.organization_id)
    assert organization is not None  # the program is its
    sent = []
    for invite, token in written:
        accept_url = f"{settings.current().web.url}/invites/{token}"
        occasion = letter.Occasion(organization=organization, program=program, invite=invite)
        letter.stage(occasion, accept_url=accept_url, now=now)
        sent.append(Sent(invite=invite, accept_url=accept_url))
    return sent
