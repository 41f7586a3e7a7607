"""The page of an invite: brand, program, note, and one button. Works without scripts.

Viewing changes nothing, so that mail scanners that open links accept nothing. The link is a secret: the page is not
stored and not indexed, and sends no referrer.
Source: core spec, "Affiliate invites".
"""

from flask import Blueprint, Response

import settings
from api.access.guards import Guard
from api.edge.operations import operation
from api.invites import tokens
from domain.refusals import Refused
from pages import documents
from pipelines.invites.acceptance import Acceptance
from schemas.affiliates.affiliate import link_records

blueprint = Blueprint("invite_page", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous")


@blueprint.get("/invites/<token>")
@operation(_PUBLIC, documents.HTML, refuses=tokens.LINK_REFUSALS)
def show_invite(token: str) -> Response:
    """Show an invite with a button to accept it, or that it was accepted."""
    try:
        invite = tokens.preview(token)
    except Refused as refusal:
        return _render_refusal(refusal)
    if invite.standing:
        return _render_accepted(invite.standing)
    return documents.render_page("hosted/invitation.html", occasion=invite.occasion)


@blueprint.post("/invites/<token>")
@operation(_PUBLIC, documents.HTML, refuses=(*tokens.LINK_REFUSALS, tokens.ACCEPT_REFUSAL))
def accept_invite_on_page(token: str) -> Response:
    """Accept an invite as its page does, and say what came of it."""
    try:
        return _render_accepted(tokens.accept(token))
    except Refused as refusal:
        return _render_refusal(refusal)


def _render_accepted(acceptance: Acceptance) -> Response:
    """Show the new affiliate's whole link, which one click selects, so that it can be copied without scripts."""
    base_url = settings.current().web.url
    url = link_records([acceptance.link], base_url=base_url)[0]["url"] if acceptance.link else None
    return documents.render_page(
        "hosted/accepted.html", standing=acceptance, url=url, sign_in_url=f"{base_url}/sign-in"
    )


def _render_refusal(refusal: Refused) -> Response:
    return documents.render_notice(
        "This invitation can't be opened", refusal.message, title="Invitation", status=refusal.status
    )
