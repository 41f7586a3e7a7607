"""What every screen has: who may see it, that the request comes from itself, its headers, its frame, its error pages.

`screen` is for people of one kind who signed in, `open_page` for everybody. Neither is part of the API's description.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from flask import Response, current_app, g, request
from werkzeug.exceptions import RequestEntityTooLarge

import settings
from api import sessions
from api.access.guards import Guard
from api.access.persons import PersonKind
from api.edge.operations import operation
from domain.refusals import Refused
from pages import calls, documents, forms, kept, navigation, session, statics
from pages.forms import FormState
from pages.times import zone

Shown = TypeVar("Shown", bound=Callable[..., Response])

#: Which of light and dark somebody chose; without it their system decides.
THEME_COOKIE = "finderfee-theme"
THEMES = ("light", "dark")

_PLAIN_FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 2_000
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ITSELF = dict.fromkeys(("script-src", "style-src", "img-src", "connect-src"), "'self'")
_SCREEN = Guard(audience="public", bucket=None)
#: The largest form that a page takes unless it says otherwise, in bytes.
MAX_FORM_BYTES = _SCREEN.max_body_bytes
_SAID: Mapping[int, tuple[str, str]] = {
    400: ("Not understood", "The address asks for something that is not there to ask for. Begin from the page itself."),
    402: ("Not in your plan", "The plan of your organization does not have this. Settings says which plan it is."),
    403: ("Not for you", "You are signed in, but this is for somebody else, or for a higher role."),
    404: ("Nothing here", "It is gone, never was, or is not yours to see."),
    410: ("This link is over", "It was used, or its time has passed. Ask for a new one."),
    413: ("Too large", "What was sent is larger than this page takes."),
    429: ("Too many requests", "Wait a minute, then load the page again."),
    503: ("Not now", "The service is being mended or is very busy. Load the page again in a moment."),
}
_UNPROVEN = (
    "Verify your email",
    "Nobody has proved that this address is yours. Verify it where you sign in, then sign in again.",
)
_FAULT = ("Something went wrong", "It is our fault, and nothing was half done. The number below names what happened.")


def open_page(*, bucket: str | None = None, most_bytes: int = MAX_FORM_BYTES) -> Callable[[Shown], Shown]:
    """Declare a page that anybody may see; `bucket` names its rate limit, `most_bytes` is its largest form."""
    return _declared(Guard(audience="public", bucket=bucket, max_body_bytes=most_bytes), None, ())


def screen(
    kind: PersonKind, *, uses: Sequence[calls.View] = (), most_bytes: int = MAX_FORM_BYTES
) -> Callable[[Shown], Shown]:
    """Declare a page for people of one kind, and the operations that it `uses`; `most_bytes` is its largest form.

    Nobody is led to sign in and back; somebody of another kind gets a 403.
    """
    return _declared(dataclasses.replace(_SCREEN, max_body_bytes=most_bytes), kind, tuple(uses))


def _declared(guard: Guard, kind: PersonKind | None, uses: tuple[calls.View, ...]) -> Callable[[Shown], Shown]:
    def wrap(view: Shown) -> Shown:
        def checked(**path: Any) -> Response:
            _check_sender()
            _check_field_count()
            g.screen_uses = uses
            try:
                answer = (_elsewhere(kind) if kind else None) or view(**path)
            except calls.FreshLoginNeeded:
                return _sign_in_again()
            kept.drop_used(answer)
            return answer

        declared = operation(guard, documents.HTML, is_described=False)(functools.wraps(view)(checked))

        @functools.wraps(declared)
        def shown(**path: Any) -> Response:
            try:
                return declared(**path)
            except Exception as error:  # whatever it is, a person sees a page; the application says what it means
                return _failed(error)

        shown.uses, shown.kind = uses, kind  # type: ignore[attr-defined]  # read by the tests
        return shown  # type: ignore[return-value]  # functools.wraps keeps the view's signature

    return wrap


def show(template: str, form: FormState | None = None, *, status: int | None = None, **values: Any) -> Response:
    """Return a template in its frame, with what every screen has: the `form` in it, and the filter in its address.

    Its status is that of the form unless another one is given.
    """
    person, shown_form = session.present(), form or forms.EMPTY
    answer = documents.page(
        f"screens/{template}",
        status=status or shown_form.status,
        allows=_ITSELF,
        static=statics.url,
        theme=theme(),
        person=person,
        area=navigation.of(person) if person else None,
        places=navigation.seen(person) if person else (),
        here=g.get("page_address", request.path),
        may=calls.may,
        form=shown_form,
        new_key=forms.new_key,
        asked=forms.asked(),
        done=request.args.get("done"),
        with_cursor=_with_cursor,
        zone=zone.current().key,
        **values,
    )
    answer.vary.add("Cookie")
    return answer


def show_part(template: str, **values: Any) -> Response:
    """Return a live part of a page alone; 204 where the page that asks shows this very version.

    The address that a part asks carries the version that the page shows. `template` is included by the whole page as
    well, and holds one part made by the macro `live`.
    """
    answer = show(template, **values)
    seen = request.args.get("seen", "")
    if seen.isalnum() and f'seen={seen}"' in answer.get_data(as_text=True):
        return Response(status=204, headers=documents.headers(_ITSELF) | {"Vary": "Cookie"})
    return answer


def sent_on(address: str) -> Response:
    """Return the answer that leads a browser to another of our pages."""
    answer = Response(status=303, headers=documents.headers(_ITSELF) | {"Location": address})
    answer.vary.add("Cookie")
    return answer


def sign_in_first() -> Response:
    """Return the answer that leads nobody to sign in, and then back here; a live part only learns that it is over."""
    if request.headers.get("HX-Request"):
        return Response(status=401, headers=documents.headers(_ITSELF) | {"Vary": "Cookie"})
    return _to_sign_in(request.full_path.removesuffix("?"))


def _sign_in_again() -> Response:
    """Return the answer that leads somebody to log in anew and then back to the form, which is filled in as it was."""
    answer = _to_sign_in(kept.page())
    kept.keep(answer)
    return answer


def _to_sign_in(back: str) -> Response:
    return sent_on(f"/sign-in?{urlencode({'next': back})}")


def absent(_: str) -> Response:
    """Refuse an address below an area that is no screen's."""
    raise Refused(404, "not_found", "There is no such address.")


def theme() -> str | None:
    """Return the theme that somebody chose."""
    chosen = request.cookies.get(THEME_COOKIE)
    return chosen if chosen in THEMES else None


def _with_cursor(cursor: str) -> str:
    """Return the query of this address, at another place in the list."""
    return urlencode(
        [*((name, text) for name, text in request.args.items(multi=True) if name != "cursor"), ("cursor", cursor)]
    )


def _elsewhere(kind: PersonKind) -> Response | None:
    """Return where somebody is led instead: to sign in, or by way of the provider that is to be asked about them."""
    person = session.present()
    if person is None:
        return sign_in_first()
    if person.kind != kind:
        raise Refused(403)
    if person.is_due and request.method == "GET" and not request.headers.get("HX-Request"):
        by = sessions.provider_of_kind(kind)
        return sent_on(f"/sign-in/with/{by}?{urlencode({'next': request.full_path.removesuffix('?')})}")
    return None


def _check_sender() -> None:
    """Refuse what changes something and was not sent by a page of this very origin.

    Subdomains of brands are the same site, so that the cookie's SameSite does not keep them out; this does.
    """
    if request.method in _SAFE:
        return
    # Browsers say it wherever the origin can be trusted; on plain http they say only where they came from.
    told = request.headers.get("Sec-Fetch-Site")
    came_from_us = request.headers.get("Origin") == settings.current().web.url
    is_own = came_from_us if told is None else told == "same-origin"
    if not is_own:
        raise Refused(403, "forbidden", "This was not sent by a page of this service.")


def _check_field_count() -> None:
    """Refuse a form with more fields than any page has. Of forms with files the parser counts the parts itself."""
    if request.mimetype == _PLAIN_FORM and request.get_data(cache=True).count(b"&") >= _MAX_FIELDS:
        raise RequestEntityTooLarge


def _failed(error: Exception) -> Response:
    """Return the page of an error, with the status that the API gives it."""
    answer = current_app.make_response(current_app.handle_user_exception(error))
    if answer.status_code == 401:
        return sign_in_first()
    is_unproven = isinstance(error, Refused) and error.code == "email_verification_required"
    heading, said = _UNPROVEN if is_unproven else _SAID.get(answer.status_code, _FAULT)
    try:
        person = session.present()
    except Exception:  # with the database away nobody is known, and the page says only that
        g.person = person = None
    failed = show(
        "failed.html",
        status=answer.status_code,
        heading=heading,
        said=said,
        home=navigation.of(person).home if person else "/sign-in",
        request_id=g.request_id if (heading, said) == _FAULT else None,
    )
    if "Retry-After" in answer.headers:
        failed.headers["Retry-After"] = answer.headers["Retry-After"]
    return failed
