"""Affiliate invites, for the brand.

Source: core spec, "Affiliate invites". Any fault in the body of an invite is `validation_failed` with the first field
that has one.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, Response
from marshmallow import ValidationError

from adapters import clock
from api.access import guards
from api.access.callers import Caller
from api.access.guards import KIB, Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.invites import InviteState
from domain.organization import plans
from domain.organization.access import Role
from models import db, invites
from pipelines.invites import invitations
from pipelines.invites.dispatch import Inviter
from schemas.affiliates.affiliate import RATE_REFUSALS
from schemas.invite import (
    INVALID_INVITE,
    BulkAnswer,
    BulkInviteBody,
    InviteBody,
    InviteRecord,
    InvitesQuery,
    NewInvite,
    SlugConflict,
    invite_record,
    invite_refusal,
)

blueprint = Blueprint("invites", __name__)

# A note of 10,000 characters of any script, escaped, and fifty recipients.
_MAX_BODY_BYTES = 256 * KIB

_INVITE = Guard(
    audience="brand",
    scope="read_write",
    role=Role.Manager,
    verified_email=True,
    bucket="invite",
    max_body_bytes=_MAX_BODY_BYTES,
)
_INVITE_MANY = Guard(
    audience="brand",
    scope="read_write",
    role=Role.Manager,
    verified_email=True,
    plan=plans.Tier.Starter,
    needs_active_subscription=True,
    bucket="invite",
    max_body_bytes=_MAX_BODY_BYTES,
)
_READ = Guard(audience="dashboard")
_RESEND = Guard(audience="dashboard", scope="read_write", bucket="invite")
_REVOKE = Guard(audience="dashboard", scope="read_write")

_RECORD = InviteRecord()
_CONFLICTS = SlugConflict()
_CREATE_REFUSALS = (
    "400 validation_failed",
    "409 program_inactive",
    "409 pending_invites_limit_reached",
)


@blueprint.post("/api/affiliate-invites")
@operation(
    _INVITE,
    object_of(NewInvite()),
    shows_secret=True,
    status=201,
    takes=InviteBody(),
    refuses=(
        *_CREATE_REFUSALS,
        "400 slug_reserved",
        "409 slug_already_taken",
        "409 affiliate_already_exists",
        *RATE_REFUSALS,
    ),
)
def create_invite() -> Response:
    """Invite a person by email. 201 with the invite and its link, which is never shown again.

    They become Approved when they accept, or wait for the brand with autoApprove false. A pending invite of the same
    email to the same program is revoked.
    """
    values = _body()
    return _run_once(lambda: _create(values))


def _create(values: Mapping[str, Any]) -> idempotency.Answer:
    now, caller = clock.now(), guards.caller()
    outcome = invitations.create(organization_id=caller.organization_id, body=values, inviter=_inviter(caller), now=now)
    _record_replaced(outcome, now)
    (sent_invite,) = outcome.invites
    record = invite_record(sent_invite.invite, now=now)
    audit.record("affiliate_invite.created", sent_invite.invite.id, after=record, now=now)
    return 201, {"invite": record, "acceptUrl": sent_invite.accept_url}


@blueprint.post("/api/affiliate-invites/bulk")
@operation(_INVITE_MANY, object_of(BulkAnswer()), status=201, takes=BulkInviteBody(), refuses=_CREATE_REFUSALS)
def create_invites() -> Response:
    """Invite up to 50 people by email. 201 with the invites; a recipient whose slug is taken is invited without it.

    Duplicates and people who are in the program already are skipped.
    """
    values = _body()
    return _run_once(lambda: _create_many(values))


def _create_many(values: Mapping[str, Any]) -> idempotency.Answer:
    now, caller = clock.now(), guards.caller()
    outcome = invitations.create_many(
        organization_id=caller.organization_id, body=values, inviter=_inviter(caller), now=now
    )
    _record_replaced(outcome, now)
    records = [invite_record(row.invite, now=now) for row in outcome.invites]
    for row, invite in zip(outcome.invites, records, strict=True):
        audit.record("affiliate_invite.created", row.invite.id, after=invite, now=now)
    return 201, {
        "created": len(records),
        "skipped": outcome.skipped,
        "invites": records,
        "slugConflicts": _CONFLICTS.dump(outcome.conflicts, many=True),
    }


@blueprint.get("/api/affiliate-invites")
@operation(_READ, page(_RECORD), asks=InvitesQuery())
def list_invites() -> Mapping[str, object]:
    """List invites, newest first; filtered by program and state."""
    query, organization_id, now = body.query(), guards.organization_id(), clock.now()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(organization_id):
        rows = invites.page(
            organization_id=organization_id,
            program_id=query["program_id"],
            state=query["state"],
            now=now,
            **page_request.window,
        )
    return paging.serialize_page(page_request, rows, lambda rows: [invite_record(row, now=now) for row in rows])


@blueprint.post("/api/affiliate-invites/<invite_id>/resend")
@operation(
    _RESEND,
    object_of(NewInvite()),
    shows_secret=True,
    refuses=(
        "400 invalid_commission_type",
        "400 fixed_commission_out_of_range",
        "400 unit_fee_out_of_range",
        "404 not_found",
        "409 invite_not_pending",
        "409 program_inactive",
        "409 pending_invites_limit_reached",
    ),
)
def resend_invite(invite_id: str) -> Response:
    """Resend a pending or expired invite with a new link for 14 days. 200 with both; the old link stops working."""
    return _run_once(lambda: _resend(invite_id))


def _resend(invite_id: str) -> idempotency.Answer:
    now, wanted_id = clock.now(), path.uuid(invite_id, "invite")
    outcome = invitations.resend(organization_id=guards.organization_id(), invite_id=wanted_id, now=now)
    _record_replaced(outcome, now)
    (sent_invite,) = outcome.invites
    record = invite_record(sent_invite.invite, now=now)
    audit.record("affiliate_invite.resent", wanted_id, after=record, now=now)
    return 200, {"invite": record, "acceptUrl": sent_invite.accept_url}


@blueprint.delete("/api/affiliate-invites/<invite_id>")
@operation(_REVOKE, status=204, refuses=("404 not_found", "409 invite_not_pending"))
def revoke_invite(invite_id: str) -> Response:
    """Revoke a pending or expired invite. 204; its link stops working."""
    now, wanted_id = clock.now(), path.uuid(invite_id, "invite")
    with db.unit_of_work(guards.organization_id()):
        invite = invitations.revoke(organization_id=guards.organization_id(), invite_id=wanted_id, now=now)
        _record_revoked(invite, now)
    return Response(status=204)


def _body() -> Mapping[str, Any]:
    try:
        return body.load(code=INVALID_INVITE)
    except ValidationError as error:
        raise invite_refusal(error) from error


def _run_once(work: Callable[[], idempotency.Answer]) -> Response:
    return idempotency.run_once(work, wakes_relay=True)


def _inviter(caller: Caller) -> Inviter:
    return Inviter(member_id=caller.member_id, is_test=caller.is_test)


def _record_replaced(outcome: invitations.InviteBatch, now: datetime) -> None:
    for invite in outcome.replaced:
        _record_revoked(invite, now)


def _record_revoked(invite: invites.InviteWithProgram, now: datetime) -> None:
    before = invite_record(invite, now=now)
    after = before | {"state": InviteState.Revoked.value}
    audit.record("affiliate_invite.revoked", invite.id, before=before, after=after, now=now)
