"""The page that a brand's own site embeds in a frame, and the script that creates the frame.

The page itself has no personal data: its script calls the API with a token from the fragment (`#`) of the address, and
browsers never send that. The id before it, which is not secret, decides which sites may frame the page.
"""

import secrets

from flask import Blueprint, Response, request

from api.access.guards import Guard
from api.edge.operations import operation, text
from api.embed import tokens
from domain.conversions.earnings import EarningState
from domain.money import currencies
from domain.payouts.states import PayoutStatus
from domain.statuses import ConversionType
from pages import documents, static_files

blueprint = Blueprint("embed_page", __name__)

_OPEN = Guard(audience="public", bucket="anonymous")
_SCRIPT = Guard(audience="public", bucket=None)
_MAX_AGE_S = 3600
_DEFAULT_EXPONENT = 2
# Texts of the page's own script; `{}` is filled in.
_SCRIPT_TEXTS = {
    "expired": "Your session has expired. Please reload the page.",
    "failed": "This can't be shown right now. Please reload the page later.",
    "plan": "This is not available right now.",
    "copied": "Copied",
    "copy": "Copy",
    "added": "Link added.",
    "link": "Your link",
    "minimum": "Minimum payout: {}.",
    "from": "payable from {}",
    "chart": "Clicks by day: {}",
    ConversionType.OneTime: "Sale",
    ConversionType.Recurring: "Renewal",
    ConversionType.Bonus: "Bonus",
    ConversionType.ClickReward: "Click",
    ConversionType.LeadReward: "Lead",
    EarningState.Held: "On hold",
    EarningState.Disputed: "Disputed",
    EarningState.Payable: "Payable",
    EarningState.OnItsWay: "On its way",
    EarningState.Paid: "Paid",
    EarningState.Refunded: "Refunded",
    EarningState.Denied: "Denied",
    EarningState.Invalidated: "Invalid",
    EarningState.NotPayable: "Not payable",
    "locked": "Imported history, not payable here",
    PayoutStatus.Pending: "Scheduled",
    PayoutStatus.Processing: "On its way",
    PayoutStatus.Failed: "Failed",
    "Voided": "Voided; the amount is payable again",
}


@blueprint.get("/embed/<embed_id>")
@operation(_OPEN, documents.HTML, refuses=("400", "404"))
def show_embedded_page(embed_id: str) -> Response:
    """Show the page to the sites that its token names, and to no other. Budget: 1 statement."""
    if "token" in request.args:  # the token is in logs by now
        text = "Put the token after # instead of ?, and create a new one: this one may have been logged."
        return documents.render_notice("Token in the wrong place", text, status=400)
    origins = tokens.find_frame_origins(embed_id)
    if not origins:
        return documents.render_notice(
            "Page not found", "It has expired or does not exist. Please reload the page that embeds it.", status=404
        )
    nonce = secrets.token_urlsafe(18)
    return documents.render_page(
        "hosted/embed.html",
        allows={
            "script-src": f"'nonce-{nonce}'",
            "style-src": f"'nonce-{nonce}'",
            "connect-src": "'self'",
            "img-src": "'self' data:",
            "form-action": "'none'",
            "frame-ancestors": " ".join(origins),
        },
        nonce=nonce,
        static=static_files.url,
        origins=origins,
        exponents={code: number for code, number in currencies.EXPONENTS.items() if number != _DEFAULT_EXPONENT},
        words={str(name): text for name, text in _SCRIPT_TEXTS.items()},
    )


@blueprint.get("/embed.js")
@operation(_SCRIPT, text("text/javascript"))
def get_embed_script() -> Response:
    """Return the script that creates the frame in a brand's page, resizes it and renews its token."""
    answer = Response(static_files.read_file("embed.js"), content_type="text/javascript; charset=utf-8")
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    answer.cache_control.public = True
    answer.cache_control.max_age = _MAX_AGE_S
    answer.add_etag()
    answer.make_conditional(request)
    return answer
