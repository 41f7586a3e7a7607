"""The hosted form of a campaign that pays for leads: the brand, two fields, one button. Works without scripts.

Nothing is stored in the browser, so there is no session for cross-site requests; the form contains the human
verification. The result of a lead is not revealed, as at POST /api/v1/lead.
Source: core spec, "Program" (leadBountyCents) and "Click and lead fraud review" (paid lead).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from api.access.guards import Guard
from api.edge.operations import operation
from api.leads import lead_form, paid_lead
from api.leads.lead_form import LeadForm
from domain.refusals import Refused
from pages import documents
from schemas.leads.paid_lead import PaidLeadBody

blueprint = Blueprint("lead_form", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous_tracking")
_BODY = PaidLeadBody()
# The fields in which verification services and the service itself put their token.
_TOKEN_FIELDS = ("token", "cf-turnstile-response", "h-captcha-response", "g-recaptcha-response")
# A hidden field that only bots fill in.
_TRAP = "website"
_EMPTY = {"email": "", "name": ""}
_ERRORS = {
    "email": "Enter an email address, such as name@example.com.",
    "name": "Enter a name of at most 200 characters, or leave the field empty.",
    "token": "We could not confirm that you are human. Please wait a moment and send the form again.",
}


@blueprint.get("/lead/<slug>", strict_slashes=False)
@operation(_PUBLIC, documents.HTML, refuses=("404 not_found", "503 human_check_not_configured"))
def show_lead_form(slug: str) -> Response:
    """Show the form of a referral."""
    return _render_open_form(slug, None)


@blueprint.get("/lead/<program>/<slug>", strict_slashes=False)
@operation(_PUBLIC, documents.HTML, refuses=("404 not_found", "503 human_check_not_configured"))
def show_lead_form_of_program(program: str, slug: str) -> Response:
    """Show the form of a referral to one campaign, by its id or slug."""
    return _render_open_form(slug, program)


@blueprint.post("/lead/<slug>", strict_slashes=False)
@operation(_PUBLIC, documents.HTML, refuses=paid_lead.REFUSALS)
def send_lead_form(slug: str) -> Response:
    """Accept the form and show a thank-you, or show the form again with its errors."""
    return _send(slug, None)


@blueprint.post("/lead/<program>/<slug>", strict_slashes=False)
@operation(_PUBLIC, documents.HTML, refuses=paid_lead.REFUSALS)
def send_lead_form_of_program(program: str, slug: str) -> Response:
    """Accept the form of one campaign, and respond as the form of the slug alone does."""
    return _send(slug, program)


def _render_open_form(slug: str, program: str | None) -> Response:
    try:
        return _render_form(lead_form.open_form(slug, program))
    except Refused as refusal:
        return _render_closed(refusal)


def _send(slug: str, program: str | None) -> Response:
    try:
        form = lead_form.open_form(slug, program)
    except Refused as refusal:
        return _render_closed(refusal)
    values = {name: request.form.get(name, "") for name in _EMPTY}
    if request.form.get(_TRAP):
        return _render_thanks(form)
    token = next((request.form[name] for name in _TOKEN_FIELDS if request.form.get(name)), "")
    try:
        lead: Mapping[str, Any] = _BODY.load({**values, "token": token, "slug": form.link.slug})
        paid_lead.take(form.link, lead)
    except ValidationError as error:
        return _render_form(form, values, [name for name in _ERRORS if name in error.normalized_messages()], status=400)
    except Refused as refusal:
        if refusal.field == "token":
            return _render_form(form, values, ["token"], status=refusal.status)
        return documents.render_notice("Not sent", refusal.message, status=refusal.status)
    return _render_thanks(form)


def _render_form(
    form: LeadForm, values: Mapping[str, str] = _EMPTY, wrong_fields: Sequence[str] = (), *, status: int = 200
) -> Response:
    return documents.render_page(
        "hosted/lead_form.html",
        status=status,
        allows=_content_policy(form),
        form=form,
        sent=values,
        wrong={name: _ERRORS[name] for name in wrong_fields},
        trap=_TRAP,
    )


def _content_policy(form: LeadForm) -> Mapping[str, str]:
    if form.widget is None:
        return {}
    return dict.fromkeys(("script-src", "frame-src", "connect-src"), " ".join(form.widget.origins))


def _render_thanks(form: LeadForm) -> Response:
    return documents.render_notice("Thank you", f"{form.brand} will be in touch with you.")


def _render_closed(refusal: Refused) -> Response:
    is_mistyped = refusal.status == 404
    why = "The address may be mistyped, or the form has closed." if is_mistyped else "This form is not set up yet."
    return documents.render_notice("Form not found", why, title="Form not found", status=refusal.status)
