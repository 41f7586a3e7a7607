"""The checkout door: one redirect to a checkout, or first a page that asks for the buyer's email. No script is needed.

What proves that a person sent the form is a token of ours, for a service's widget would need scripts; nobody earns by
the form alone. Every buyer is sent on alike, so nobody learns who was known.
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

_COMING = Guard(audience="public", bucket=visits.BUCKET, counts_itself=True)
_SENDING = Guard(audience="public", bucket=visits.BUCKET)
_HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
_BODY = DoorBody()
# A field that people do not see: only a program fills it in.
_TRAP = "website"
_WRONG = {
    "email": "Enter an email address, such as name@example.com.",
    "token": "It is not sure that you are a person. Take a moment and continue again.",
}


@blueprint.get("/door/<program>/thanks", strict_slashes=False)
@operation(_SENDING, documents.HTML, status=302, refuses=("404",))
def show_thanks(program: str) -> Response:
    """Send a buyer on to the page on which the brand thanks them, with what the checkout added to the address."""
    url = checkout_door.thank_you(program)
    return _nowhere() if url is None else _sent_on(url, 302)


@blueprint.get("/door/<program>/<slug>", strict_slashes=False)
@operation(_COMING, documents.HTML, status=302, gives_at=(200,), refuses=("404",), writes=True)
def open_door(program: str, slug: str) -> Response:
    """Send a buyer on to the checkout of a campaign, given by its id or slug, or ask for their email first.

    302 to the campaign's site; 200 with the form where the door asks.
    """
    link = checkout_door.open_link(program, slug)
    if link is None:
        return _nowhere()
    if link.door_mode == checkout_door.EMAIL:
        return _asked(checkout_door.form(link))
    return _sent_on(checkout_door.checkout(link), 302)


@blueprint.post("/door/<program>/<slug>", strict_slashes=False)
@operation(_SENDING, documents.HTML, status=303, refuses=("404",))
def send_door_form(program: str, slug: str) -> Response:
    """Take a buyer's email and send them on, or show the form again with what is wrong."""
    link = checkout_door.find(program, slug)
    if link is None:
        return _nowhere()
    if link.door_mode == checkout_door.EMAIL and not request.form.get(_TRAP):
        sent = request.form.get("email", "")
        try:
            email = _BODY.load({"email": sent})["email"]
        except ValidationError:
            return _asked(checkout_door.form(link), sent, wrong="email")
        if not checkout_door.is_human(request.form.get("token", "")):
            return _asked(checkout_door.form(link), sent, wrong="token")
        checkout_door.remember_email(link, email)
    return _sent_on(checkout_door.checkout(link), 303)


def _asked(form: DoorForm, sent: str = "", *, wrong: str | None = None) -> Response:
    return documents.render_page(
        "hosted/door.html",
        status=400 if wrong else 200,
        allows=_allowed(form),
        form=form,
        sent=sent,
        wrong={wrong: _WRONG[wrong]} if wrong else {},
        trap=_TRAP,
    )


def _allowed(form: DoorForm) -> Mapping[str, str]:
    # A browser asks this policy about every step that the answer to the form sends it on to.
    site = urlsplit(form.link.destination_url or "")
    allowed = {"form-action": "'self' https:" + (" http:" if site.scheme == "http" else "")}
    if form.logo_url is not None:
        parts = urlsplit(form.logo_url)
        allowed["img-src"] = f"{parts.scheme}://{parts.netloc}"
    return allowed


def _sent_on(url: str, status: int) -> Response:
    return Response(status=status, content_type="text/html; charset=utf-8", headers=_HEADERS | {"Location": url})


def _nowhere() -> Response:
    # The same for every door that does not open, so that it tells nobody whose it was.
    return documents.render_notice(
        "This page is not here",
        "The address may have been mistyped, or the offer has ended. The person who gave it to you can tell you more.",
        title="Nothing here",
        status=404,
    )
