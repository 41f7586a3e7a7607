"""Writes invites with their tokens and emails the links.

The token is only in the link that is returned and emailed; we store its hash.
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
from domain.invites import LIFETIME, MAX_PENDING, InviteState
from domain.refusals import Refused
from models import ids, invites
from models.invites import InviteWithProgram
from models.organization import organizations
from models.programs import programs
from pipelines.invites import invite_email

_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Inviter:
    """The member who invites; with a test key (`is_test`) the invites create test affiliates."""

    member_id: UUID
    is_test: bool


@dataclass(frozen=True, slots=True)
class SentInvite:
    """An invite that was just sent, with the link that opens it."""

    invite: InviteWithProgram
    accept_url: str


def token_hash(token: str) -> bytes:
    """Return the hash under which a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def create_and_send(
    *, program: programs.Program, bodies: Sequence[Mapping[str, Any]], inviter: Inviter, now: datetime
) -> list[SentInvite]:
    """Write invites to a program and email their links. Raises Refused 409 pending_invites_limit_reached."""
    if not bodies:
        return []
    check_limit(organization_id=program.organization_id, adding=len(bodies), now=now)
    rows, with_tokens = [], []
    for body in bodies:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        row = _row(program, body, inviter, token, now)
        rows.append(row)
        with_tokens.append((InviteWithProgram(**row, program_name=program.name), token))
    invites.stage(rows)
    return _mail(program, with_tokens, now)


def renew_and_send(*, program: programs.Program, invite: InviteWithProgram, now: datetime) -> list[SentInvite]:
    """Give a locked invite a new token and expiry, and email its link."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    renewed = invites.renew(invite, token_hash=token_hash(token), now=now, until=now + LIFETIME)
    return _mail(program, [(renewed, token)], now)


def check_limit(*, organization_id: UUID, adding: int, now: datetime) -> None:
    """Raise Refused 409 pending_invites_limit_reached if `adding` more invites would exceed the limit."""
    if invites.count_pending(organization_id=organization_id, now=now) + adding > MAX_PENDING:
        message = f"An organization may have {MAX_PENDING} pending invites; revoke some, or wait for answers."
        raise Refused(409, "pending_invites_limit_reached", message)


def _row(
    program: programs.Program, body: Mapping[str, Any], inviter: Inviter, token: str, now: datetime
) -> dict[str, Any]:
    note = html.clean(body["personal_note_html"] or "").strip()
    return {
        "id": ids.new_id(),
        "organization_id": program.organization_id,
        "program_id": program.id,
        "email": body["email"],
        "full_name": body["full_name"],
        "slug": body["slug"],
        "kept_slug": None,
        "personal_note_html": note or None,
        "custom_commission_type": body.get("custom_commission_type"),
        "custom_commission_value": body.get("custom_commission_value"),
        "custom_commission_currency": body.get("custom_commission_currency"),
        "auto_approve": body["auto_approve"],
        "is_test": inviter.is_test,
        "state": InviteState.Pending.value,
        "token_hash": token_hash(token),
        "affiliate_id": None,
        "invited_by": inviter.member_id,
        "sent_at": now,
        "expires_at": now + LIFETIME,
        "accepted_at": None,
        "created_at": now,
    }


def _mail(
    program: programs.Program, invites_with_tokens: Sequence[tuple[InviteWithProgram, str]], now: datetime
) -> list[SentInvite]:
    organization = organizations.find(program.organization_id)
    assert organization is not None  # the program belongs to it
    sent_invites = []
    for invite, token in invites_with_tokens:
        accept_url = f"{settings.current().web.url}/invites/{token}"
        context = invite_email.InviteContext(organization=organization, program=program, invite=invite)
        invite_email.send(context, accept_url=accept_url, now=now)
        sent_invites.append(SentInvite(invite=invite, accept_url=accept_url))
    return sent_invites
