"""The hosted form of a campaign that pays for leads: who asks, two fields, one button. Works without scripts.

Nothing is kept in the browser, so there is no session that another site could ride on; what proves that a person
filled in the form is in it. What comes of a lead is not told, as at POST /api/v1/lead.
Source: core spec, "Program" (leadBountyCents) and "Click and lead fraud review" (paid lead).
"""

from collections.abc import Mapping
from html import escape
from typing import Any

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from adapters import clock
from adapters.fraud import human_check
from api.access.guards import Guard
from api.edge.operations import operation, text
from api.leads import paid_lead
from domain.refused import Refused
from models import db
from models.clicks.public_links import Link
from models.organization import organizations
from schemas.leads.paid_lead import PaidLeadBody

blueprint = Blueprint("lead_form", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous_tracking")
_PAGE = text("text/html")
_BODY = PaidLeadBody()
# Where the widgets of verification services put their token, and where ours is.
_TOKEN_FIELDS = ("token", "cf-turnstile-response", "h-captcha-response", "g-recaptcha-response")
# A field that people do not see: whoever fills it in is none.
_TRAP = "website"
_WRONG = {
    "email": "Enter an email address, such as name@example.com.",
    "name": "Enter a name of at most 200 characters, or none.",
    "token": "It is not sure that you are a person. Take a moment and send the form again.",
}

_STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}"
    "label{display:block;margin-top:1rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}"
    "button{font:inherit;padding:.5rem 1.5rem;margin-top:1.5rem}.trap{position:absolute;left:-100vw}"
    "[role=alert]{border-left:.3rem solid #b00020;padding-left:1rem}.wrong{color:#b00020;margin:.2rem 0}"
)


@blueprint.get("/lead/<slug>")
@operation(_PUBLIC, _PAGE, refuses=("404 not_found", "503 human_check_not_configured"))
def show_lead_form(slug: str) -> Response:
    """Show the form of a referral."""
    return _show(slug, None)


@blueprint.get("/lead/<program>/<slug>")
@operation(_PUBLIC, _PAGE, refuses=("404 not_found", "503 human_check_not_configured"))
def show_lead_form_of_program(program: str, slug: str) -> Response:
    """Show the form of a referral to one campaign, by its id or slug."""
    return _show(slug, program)


@blueprint.post("/lead/<slug>")
@operation(_PUBLIC, _PAGE, refuses=paid_lead.REFUSES)
def send_lead_form(slug: str) -> Response:
    """Take what the form sends and say thank you, or show the form again with what is wrong."""
    return _send(slug, None)


@blueprint.post("/lead/<program>/<slug>")
@operation(_PUBLIC, _PAGE, refuses=paid_lead.REFUSES)
def send_lead_form_of_program(program: str, slug: str) -> Response:
    """Take what the form of one campaign sends, and answer as the form of the slug alone does."""
    return _send(slug, program)


def _show(slug: str, program: str | None) -> Response:
    try:
        return _form(_open_link(slug, program))
    except Refused as refusal:
        return _closed(refusal)


def _open_link(slug: str, program: str | None) -> Link:
    link = paid_lead.open_link(slug, program)
    if human_check.widget() is None and human_check.local() is None:
        raise paid_lead.not_configured()
    return link


def _send(slug: str, program: str | None) -> Response:
    try:
        link = _open_link(slug, program)
    except Refused as refusal:
        return _closed(refusal)
    sent = {name: request.form.get(name, "") for name in ("email", "name")}
    if request.form.get(_TRAP):
        return _thanks(link)
    token = next((request.form[name] for name in _TOKEN_FIELDS if request.form.get(name)), "")
    try:
        lead: Mapping[str, Any] = _BODY.load({**sent, "token": token, "slug": link.slug})
        paid_lead.take(link, lead)
    except ValidationError as error:
        return _form(link, sent, [name for name in _WRONG if name in error.normalized_messages()], status=400)
    except Refused as refusal:
        if refusal.field == "token":
            return _form(link, sent, ["token"], status=refusal.status)
        return _page("Not sent", f"<h1>Not sent</h1>\n<p>{escape(refusal.message)}</p>", status=refusal.status)
    return _thanks(link)


def _form(
    link: Link, sent: Mapping[str, str] | None = None, wrong: list[str] | None = None, *, status: int = 200
) -> Response:
    values, faults = sent or {}, wrong or []
    title = f"{link.program_name} – {_brand(link)}"
    content = "\n".join(
        [
            f"<h1>{escape(link.program_name)}</h1>",
            f"<p>{escape(_brand(link))} would like to hear from you.</p>",
            _summary(faults),
            '<form method="post" novalidate>',
            _field("email", "Email address", values, faults, kind="email", more='autocomplete="email" required'),
            _field("name", "Name (optional)", values, faults, kind="text", more='autocomplete="name" maxlength="200"'),
            f'<p class="trap" aria-hidden="true"><label>Leave this empty <input name="{_TRAP}" tabindex="-1"'
            ' autocomplete="off"></label></p>',
            _proof(),
            '<button type="submit">Send</button>',
            "</form>",
        ]
    )
    return _page(f"Error: {title}" if faults else title, content, status=status)


def _summary(faults: list[str]) -> str:
    if not faults:
        return ""
    items = "".join(
        f'<li><a href="#{name}">{_WRONG[name]}</a></li>' if name != "token" else f"<li>{_WRONG[name]}</li>"
        for name in faults
    )
    return f'<div role="alert"><h2>The form was not sent</h2><ul>{items}</ul></div>'


def _field(name: str, label: str, values: Mapping[str, str], faults: list[str], *, kind: str, more: str) -> str:
    value = escape(values.get(name, ""))
    is_wrong = name in faults
    marks = f' aria-invalid="true" aria-describedby="{name}-wrong"' if is_wrong else ""
    focus = " autofocus" if faults[:1] == [name] else ""
    note = f'<p class="wrong" id="{name}-wrong">{_WRONG[name]}</p>' if is_wrong else ""
    return (
        f'<label for="{name}">{label}</label>{note}'
        f'<input id="{name}" name="{name}" type="{kind}" value="{value}" {more}{marks}{focus}>'
    )


def _proof() -> str:
    """Return what proves that a person fills in the form: the service's widget, else a token that takes its time."""
    widget = human_check.widget()
    if widget is not None:
        kinds = "cf-turnstile h-captcha g-recaptcha"
        return (
            f'<div id="token" class="{kinds}" data-sitekey="{escape(widget.site_key)}"></div>'
            f'<script src="{escape(widget.script_url)}" async defer></script>'
            "<noscript><p>To confirm that you are a person, allow scripts and load the page again.</p></noscript>"
        )
    local = human_check.local()
    token = local.issue(now=clock.now(), ready_in_s=human_check.FILLING_S) if local else ""
    return f'<input type="hidden" id="token" name="token" value="{escape(token)}">'


def _thanks(link: Link) -> Response:
    return _page("Thank you", f"<h1>Thank you</h1>\n<p>{escape(_brand(link))} will be in touch with you.</p>")


def _closed(refusal: Refused) -> Response:
    why = "The address may be mistyped, or the form is closed."
    if refusal.status != 404:
        why = "It is not set up yet."
    return _page("No form", f"<h1>There is no form here</h1>\n<p>{why}</p>", status=refusal.status)


def _brand(link: Link) -> str:
    with db.unit_of_work(link.organization_id):
        organization = organizations.find(link.organization_id)
    assert organization is not None  # a link stands in it
    return organization.name


def _page(title: str, content: str, *, status: int = 200) -> Response:
    document = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            '<meta name="robots" content="noindex">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head>",
            f"<body><main>\n{content}\n</main></body></html>",
        ]
    )
    return Response(document, status=status, content_type="text/html; charset=utf-8", headers=_headers())


def _headers() -> dict[str, str]:
    widget = human_check.widget()
    theirs = ""
    if widget is not None:
        origins = " ".join(widget.origins)
        theirs = f"; script-src {origins}; frame-src {origins}; connect-src {origins}"
    return {
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none';"
            f" frame-ancestors 'none'{theirs}"
        ),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }
