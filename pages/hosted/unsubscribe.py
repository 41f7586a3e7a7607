"""The page of an unsubscribe link: a button that switches off the emails of one kind. Works without signing in.

Viewing changes nothing, so that mail scanners that open links switch nothing off. A mail program sends the POST by
itself (RFC 8058), from its own server and without an origin: the link is the proof.
"""

from flask import Blueprint, Response

from api.access.guards import Guard
from api.edge.operations import operation
from api.notifications import unsubscribe
from domain.notifications.wording import LABELS
from domain.refusals import Refused
from pages import documents

blueprint = Blueprint("unsubscribe_page", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous")


@blueprint.get("/unsubscribe/<token>")
@operation(_PUBLIC, documents.HTML, refuses=("404 not_found",))
def show_unsubscribe(token: str) -> Response:
    """Show the kind of emails that a link switches off, with a button. Changes nothing."""
    try:
        link = unsubscribe.open_link(token)
    except Refused:
        return _render_invalid_link()
    return documents.render_page("hosted/unsubscribe.html", kind=LABELS[link.kind].name)


@blueprint.post("/unsubscribe/<token>")
@operation(_PUBLIC, documents.HTML, refuses=("404 not_found",))
def confirm_unsubscribe(token: str) -> Response:
    """Switch off the emails of a link, as its page does or a mail program in one click; again if it is repeated."""
    try:
        link = unsubscribe.unsubscribe(token)
    except Refused:
        return _render_invalid_link()
    return documents.render_notice(
        "You are unsubscribed",
        f'You get no more emails about "{LABELS[link.kind].name}". You can turn them on again in your notification'
        " settings.",
        title="Unsubscribed",
        status=200,
    )


def _render_invalid_link() -> Response:
    return documents.render_notice(
        "This link is not valid",
        "It may have been mistyped or shortened. Sign in to change your notification settings.",
        title="Not valid",
        status=404,
    )
