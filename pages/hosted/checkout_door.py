"""The checkout door: one redirect to a checkout, or first a page that asks for the buyer's email. No script is needed.

A token of the service itself verifies that a person sent the form, since a verification widget needs scripts; the form
alone earns nothing. Every buyer gets the same redirect, so that it does not reveal which emails are known.
Source: core spec, "Program" (hostedCheckoutDoorEnabled, hostedCheckoutDoorMode, hostedCheckoutThankYouUrl).
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from api.access.guards import Guard
from api.clicks import checkout_door, visits
from api.clicks.checkout_door import DoorForm
from api.edge.operations import operation
from pages import documents
from schemas.clicks.door import DoorBody

blueprint = Blueprint("checkout_door", __name__)

_VISIT = Guard(audience="public", bucket=visits.BUCKET, counts_itself=True)
_SUBMISSION = Guard(audience="public", bucket=visits.BUCKET)
_HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
_BODY = DoorBody()
# A hidden field that only bots fill in.
_TRAP = "website"
_ERRORS = {
    "email": "Enter an email address, such as name@example.com.",
    "token": "We could not confirm that you are human. Please wait a moment and try again.",
}


@blueprint.get("/door/<program>/thanks", strict_slashes=False)
@operation(_SUBMISSION, documents.HTML, status=302, refuses=("404",))
def show_thanks(program: str) -> Response:
    """Send a buyer on to the page on which the brand thanks them, with what the checkout added to the address."""
    url = checkout_door.thank_you_url(program)
    return _render_not_found() if url is None else _redirect(url, 302)


@blueprint.get("/door/<program>/<slug>", strict_slashes=False)
@operation(_VISIT, documents.HTML, status=302, gives_at=(200,), refuses=("404",), writes=True)
def open_door(program: str, slug: str) -> Response:
    """Send a buyer on to the checkout of a campaign, given by its id or slug, or ask for their email first.

    302 to the campaign's site; 200 with the form where the door asks.
    """
    link = checkout_door.open_link(program, slug)
    if link is None:
        return _render_not_found()
    if link.door_mode == checkout_door.EMAIL_MODE:
        return _render_form(checkout_door.build_form(link))
    return _redirect(checkout_door.checkout_url(link), 302)


@blueprint.post("/door/<program>/<slug>", strict_slashes=False)
@operation(_SUBMISSION, documents.HTML, status=303, refuses=("404",))
def send_door_form(program: str, slug: str) -> Response:
    """Store a buyer's email and redirect the buyer, or show the form again with its errors."""
    link = checkout_door.find_link(program, slug)
    if link is None:
        return _render_not_found()
    if link.door_mode == checkout_door.EMAIL_MODE and not request.form.get(_TRAP):
        typed_email = request.form.get("email", "")
        try:
            email = _BODY.load({"email": typed_email})["email"]
        except ValidationError:
            return _render_form(checkout_door.build_form(link), typed_email, field="email")
        if not checkout_door.is_human(request.form.get("token", "")):
            return _render_form(checkout_door.build_form(link), typed_email, field="token")
        checkout_door.remember_email(link, email)
    return _redirect(checkout_door.checkout_url(link), 303)


def _render_form(form: DoorForm, email: str = "", *, field: str | None = None) -> Response:
    return documents.render_page(
        "hosted/door.html",
        status=400 if field else 200,
        allows=_content_policy(form),
        form=form,
        sent=email,
        wrong={field: _ERRORS[field]} if field else {},
        trap=_TRAP,
    )


def _content_policy(form: DoorForm) -> Mapping[str, str]:
    # Browsers apply form-action to every redirect after the form, too.
    site = urlsplit(form.link.destination_url or "")
    allowed = {"form-action": "'self' https:" + (" http:" if site.scheme == "http" else "")}
    if form.logo_url is not None:
        parts = urlsplit(form.logo_url)
        allowed["img-src"] = f"{parts.scheme}://{parts.netloc}"
    return allowed


def _redirect(url: str, status: int) -> Response:
    return Response(status=status, content_type="text/html; charset=utf-8", headers=_HEADERS | {"Location": url})


def _render_not_found() -> Response:
    # The same for every invalid door, so that it reveals nothing about its owner.
    return documents.render_notice(
        "Page not found",
        "The address may be mistyped, or the offer has ended. Please ask the person who sent you the link.",
        title="Page not found",
        status=404,
    )
