"""The link of an invite, for the invited person: preview and accept.

A token is looked up by its hash, so a malformed and an unknown one get the same answer in the same way. Accepting is
idempotent itself, and an Idempotency-Key would be stored under a path that contains the token: it is not used.
Source: core spec, "Affiliate invites".
"""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access.guards import Guard
from api.edge import audit
from api.edge.operations import object_of, operation
from api.edge.relay_waker import wake_relay
from models import db
from pipelines.invites import acceptance, dispatch
from pipelines.invites.acceptance import Acceptance, OpenedInvite
from schemas.invite import InviteAcceptance, InvitePreview, invite_record

blueprint = Blueprint("invite_tokens", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous")
_ANSWER = InviteAcceptance()
_PREVIEW = InvitePreview()

#: The refusals of a link, and the further refusal of accepting it.
LINK_REFUSALS = ("404 not_found", "410 invite_expired", "410 invite_revoked")
ACCEPT_REFUSAL = "409 program_inactive"


@blueprint.get("/api/affiliate-invites/by-token/<token>")
@operation(_PUBLIC, object_of(_PREVIEW), refuses=LINK_REFUSALS)
def preview_invite(token: str) -> Mapping[str, object]:
    """Show a pending invite."""
    opened = preview(token)
    if opened.standing is not None:
        raise acceptance.unknown_invite_refusal()
    occasion = opened.occasion
    terms = ("default_commission_type", "default_commission_value", "default_commission_model")
    record: Mapping[str, object] = _PREVIEW.dump(
        {
            **{name: getattr(occasion.program, name) for name in terms},
            "organization_name": occasion.organization.name,
            "program_name": occasion.program.name,
            "program_description": occasion.program.description,
            "custom_commission_type": occasion.invite.custom_commission_type,
            "custom_commission_value": occasion.invite.custom_commission_value,
            "email": occasion.invite.email,
            "full_name": occasion.invite.full_name,
            "personal_note_html": occasion.note_html,
            "state": opened.state.value,
            "expires_at": occasion.invite.expires_at,
        }
    )
    return record


@blueprint.post("/api/affiliate-invites/by-token/<token>/accept")
@operation(_PUBLIC, object_of(_ANSWER), refuses=(*LINK_REFUSALS, ACCEPT_REFUSAL))
def accept_invite(token: str) -> Mapping[str, object]:
    """Accept an invite. 200 with the affiliate; a repeated request gets the same response."""
    acceptance = accept(token)
    record: dict[str, object] = _ANSWER.dump(acceptance)
    if acceptance.warning is None:
        del record["warning"]
    return record


def preview(token: str) -> OpenedInvite:
    """Return the invite of a token. Raises Refused 404 and 410."""
    token_hash = dispatch.token_hash(token)
    with db.any_org_work():
        organization_id = acceptance.any_org_organization(token_hash)
    with db.unit_of_work(organization_id):
        return acceptance.preview(organization_id=organization_id, token_hash=token_hash, now=clock.now())


def accept(token: str) -> Acceptance:
    """Accept the invite of a token. Raises Refused 404, 409 and 410."""
    now, token_hash = clock.now(), dispatch.token_hash(token)
    with db.any_org_work():
        organization_id = acceptance.any_org_organization(token_hash)
    with db.unit_of_work(organization_id):
        accepted = acceptance.accept(organization_id=organization_id, token_hash=token_hash, now=now)
        if accepted.before is not None:
            audit.record(
                "affiliate_invite.accepted",
                accepted.invite.id,
                before=invite_record(accepted.before, now=now),
                after=invite_record(accepted.invite, now=now),
                now=now,
                organization_id=organization_id,
            )
    wake_relay()
    return accepted.standing
