"""The page that an invited person sees: brand, program, note, and one button. Works without scripts.

Looking at it changes nothing, so that what opens links in mail to check them accepts nothing. The link is a secret:
the page is not stored, not indexed and not named to the pages that it leads to.
Source: core spec, "Affiliate invites".
"""

from html import escape

from flask import Blueprint, Response

import settings
from api.access.guards import Guard
from api.edge.operations import operation, text
from api.invites import tokens
from domain import statuses
from domain.refused import Refused
from pipelines.invites.accept import Preview, Standing
from schemas.affiliates.affiliate import link_records

blueprint = Blueprint("invite_page", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous")
_PAGE = text("text/html")

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

_STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}"
    "button{font:inherit;padding:.5rem 1.5rem}"
    "code{user-select:all;overflow-wrap:anywhere}"
)


@blueprint.get("/invites/<token>")
@operation(_PUBLIC, _PAGE, refuses=tokens.GONE)
def show_invite(token: str) -> Response:
    """Show an invite with a button to accept it, or that it was accepted."""
    try:
        found = tokens.preview(token)
    except Refused as refusal:
        return _refused(refusal)
    return _page(_accepted(found.standing) if found.standing else _invitation(found))


@blueprint.post("/invites/<token>")
@operation(_PUBLIC, _PAGE, refuses=(*tokens.GONE, tokens.NOT_NOW))
def accept_invite_on_page(token: str) -> Response:
    """Accept an invite as its page does, and say what came of it."""
    try:
        return _page(_accepted(tokens.accept(token)))
    except Refused as refusal:
        return _refused(refusal)


def _invitation(found: Preview) -> str:
    occasion = found.occasion
    description = occasion.program.description
    return "\n".join(
        [
            f"<h1>{escape(occasion.brand)} invites you</h1>",
            f"<p>Become a partner in <strong>{escape(occasion.campaign)}</strong>."
            f" You would earn {escape(occasion.commission)}.</p>",
            f"<p>{escape(description)}</p>" if description else "",
            f"<section>{occasion.note_html}</section>" if occasion.note_html else "",
            '<form method="post"><button type="submit">Accept</button></form>',
            f"<p>This invitation is for {escape(occasion.invite.email)}.</p>",
        ]
    )


def _accepted(standing: Standing) -> str:
    is_approved = standing.status == statuses.AffiliateStatus.Approved
    is_waiting = standing.status == statuses.AffiliateStatus.Pending
    parts = ["<h1>You are in</h1>" if is_approved else "<h1>Thank you</h1>"]
    if is_waiting:
        parts.append("<p>The brand looks at your application and writes to you.</p>")
    parts.append(_link(standing))
    if is_waiting and standing.link:
        parts.append("<p>What it brings counts once the brand has approved you.</p>")
    if standing.warning:
        parts.append("<p>The name that was meant for them is somebody else's by now, so you have another one.</p>")
    return "\n".join(parts)


def _link(standing: Standing) -> str:
    """Return the whole link, which one click selects, so that it can be copied without scripts."""
    known = f"<p>Your links are known by <strong>{escape(standing.slug)}</strong>.</p>"
    if standing.link is None:
        return known
    (shown,) = link_records([standing.link], base_url=settings.current().web.url)
    return f"<p>Your link, to share as it is:</p>\n<p><code>{escape(shown['url'])}</code></p>\n{known}"


def _refused(refusal: Refused) -> Response:
    return _page(f"<h1>This invitation cannot be opened</h1>\n<p>{escape(refusal.message)}</p>", refusal.status)


def _page(content: str, status: int = 200) -> Response:
    document = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            '<meta name="robots" content="noindex">',
            f"<title>Invitation</title><style>{_STYLE}</style></head>",
            f"<body><main>\n{content}\n</main></body></html>",
        ]
    )
    return Response(document, status=status, content_type="text/html; charset=utf-8", headers=_HEADERS)
