"""The parts of every screen: access, the check that a form comes from an own page, headers, frame, error pages.

`screen` declares a page for signed-in people of one kind, `open_page` a public one. Neither is in the API description.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from flask import Response, current_app, g, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

import settings
from api import sessions
from api.access.guards import Guard
from api.access.persons import PersonKind
from api.edge.operations import operation
from domain.refusals import Refused
from pages import api_client, documents, forms, navigation, pending_forms, session, static_files
from pages.forms import FormState
from pages.times import zone

ViewFunction = TypeVar("ViewFunction", bound=Callable[..., Response])

#: The theme that the user chose; without it the browser's preference decides.
THEME_COOKIE = "finderfee-theme"
THEMES = ("light", "dark")

#: Where a member sets up a second factor; those who must have one see nothing else of the dashboard before.
SECOND_FACTOR_PAGE = "/dashboard/settings/security/two-factor"
_WITHOUT_SECOND_FACTOR = (SECOND_FACTOR_PAGE, "/switch-organization")

_PLAIN_FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 2_000
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_ORIGIN = dict.fromkeys(("script-src", "style-src", "img-src", "connect-src"), "'self'")
_SCREEN = Guard(audience="public", bucket=None)
#: The default maximum size of a page's form, in bytes.
MAX_FORM_BYTES = _SCREEN.max_body_bytes
# Fields of an address that report what was done; they do not apply to the next page of a list.
_OUTCOME_FIELDS = ("done", "action", "affected", "skipped")
_ERROR_TEXTS: Mapping[int, tuple[str, str]] = {
    400: ("Invalid address", "This address is not valid. Please open the page from the menu."),
    402: ("Not in your plan", "Your organization's plan does not include this feature. See your plan in Settings."),
    403: ("No access", "Your account or role does not have access to this page."),
    404: ("Page not found", "It does not exist, was deleted, or you don't have access to it."),
    409: ("Not possible now", "Something changed since you opened the page. Go back, reload it, and look again."),
    410: ("This link has expired", "It was used already, or it is too old. Request a new one."),
    413: ("Too large", "The form or file is larger than this page accepts."),
    429: ("Too many requests", "Please wait a minute, then reload the page."),
    503: ("Temporarily unavailable", "The service is very busy or in maintenance. Please reload in a moment."),
}
_UNVERIFIED_EMAIL = (
    "Verify your email",
    "Your email address is not verified. Verify it with your sign-in provider, then sign in again.",
)
_INTERNAL_ERROR = (
    "Something went wrong",
    "This is an error on our side. Nothing was left half done. If you contact support, quote the number below.",
)


def open_page(*, bucket: str | None = None, max_bytes: int = MAX_FORM_BYTES) -> Callable[[ViewFunction], ViewFunction]:
    """Declare a public page; `bucket` names its rate limit, `max_bytes` is the maximum size of its form."""
    return _declare(Guard(audience="public", bucket=bucket, max_body_bytes=max_bytes), None, ())


def screen(
    kind: PersonKind, *, uses: Sequence[api_client.View] = (), max_bytes: int = MAX_FORM_BYTES
) -> Callable[[ViewFunction], ViewFunction]:
    """Declare a page for people of one kind, and the operations that it `uses`; `max_bytes` limits its form.

    A visitor who is not signed in is redirected to sign in and back; a person of another kind gets a 403.
    """
    return _declare(dataclasses.replace(_SCREEN, max_body_bytes=max_bytes), kind, tuple(uses))


def _declare(
    guard: Guard, kind: PersonKind | None, uses: tuple[api_client.View, ...]
) -> Callable[[ViewFunction], ViewFunction]:
    def wrap(view: ViewFunction) -> ViewFunction:
        def handle(**path: Any) -> Response:
            _check_sender()
            _check_field_count()
            g.screen_uses = uses
            try:
                answer = (_find_redirect(kind) if kind else None) or view(**path)
            except api_client.FreshLoginNeeded:
                return _redirect_to_fresh_login()
            pending_forms.delete_restored(answer)
            return answer

        declared = operation(guard, documents.HTML, is_described=False)(functools.wraps(view)(handle))

        @functools.wraps(declared)
        def show_page(**path: Any) -> Response:
            try:
                return declared(**path)
            except Exception as error:  # every failure is shown as a page; the application decides its status
                return _render_error(error)

        show_page.uses, show_page.kind = uses, kind  # type: ignore[attr-defined]  # read by the tests
        return show_page  # type: ignore[return-value]  # functools.wraps keeps the view's signature

    return wrap


def render(template: str, form: FormState | None = None, *, status: int | None = None, **values: Any) -> Response:
    """Return a template in its frame, with the variables of every screen, the `form` and the filter of its address.

    The status is that of the form unless another one is given.
    """
    person, shown_form = session.find_person(), form or forms.EMPTY
    here = g.get("page_address", request.path)
    answer = documents.render_page(
        f"screens/{template}",
        status=status or shown_form.status,
        allows=_OWN_ORIGIN,
        static=static_files.url,
        theme=chosen_theme(),
        person=person,
        area=navigation.area_of(person) if person else None,
        menu=navigation.build_menu(person, here) if person else None,
        here=here,
        may=api_client.is_allowed,
        form=shown_form,
        new_key=forms.new_key,
        asked=forms.form_from_query(),
        done=request.args.get("done"),
        with_cursor=_with_cursor,
        with_sort=_with_sort,
        zone=zone.current_zone().key,
        **values,
    )
    answer.vary.add("Cookie")
    return answer


def render_part(template: str, **values: Any) -> Response:
    """Return one live part of a page; 204 if the requesting page shows this version already.

    The address of a part contains the version that the page shows. `template` is also included by the whole page, and
    contains one part created by the macro `live`.
    """
    answer = render(template, **values)
    seen = request.args.get("seen", "")
    if seen.isalnum() and f'seen={seen}"' in answer.get_data(as_text=True):
        return Response(status=204, headers=documents.page_headers(_OWN_ORIGIN) | {"Vary": "Cookie"})
    return answer


def redirect(address: str) -> Response:
    """Return a redirect to another own page."""
    answer = Response(status=303, headers=documents.page_headers(_OWN_ORIGIN) | {"Location": address})
    answer.vary.add("Cookie")
    return answer


def redirect_to_sign_in() -> Response:
    """Return a redirect to sign in and back here; a live part gets a 401."""
    if request.headers.get("HX-Request"):
        return Response(status=401, headers=documents.page_headers(_OWN_ORIGIN) | {"Vary": "Cookie"})
    return _redirect_to_sign_in_for(request.full_path.removesuffix("?"))


def _redirect_to_fresh_login() -> Response:
    """Return a redirect to a fresh login and back to the form, which is filled in as it was."""
    answer = _redirect_to_sign_in_for(pending_forms.page_of_form())
    pending_forms.save(answer)
    return answer


def _redirect_to_sign_in_for(back: str) -> Response:
    return redirect(f"/sign-in?{urlencode({'next': back})}")


def refuse_address(_: str) -> Response:
    """Redirect from the address of a form, which a refused form leaves in the browser, to its page; refuse any other.

    Raises Refused for an address that no screen has.
    """
    page = _find_page_of_form()
    if page is None:
        raise Refused(404, "not_found", "There is no such page.")
    return redirect(page)


def _find_page_of_form() -> str | None:
    try:
        endpoint, values = current_app.url_map.bind("").match(request.path, method="POST")
    except HTTPException:
        return None
    pattern = getattr(current_app.view_functions[endpoint], "form_of", None)
    return pattern.format_map(values) if pattern else None


def chosen_theme() -> str | None:
    """Return the theme that the user chose; None if the browser decides."""
    chosen = request.cookies.get(THEME_COOKIE)
    return chosen if chosen in THEMES else None


def _with_cursor(cursor: str) -> str:
    """Return the query of this address with another cursor of the list."""
    return _query_with("cursor", cursor, without=_OUTCOME_FIELDS)


def _with_sort(sort: str) -> str:
    """Return the query of this address for the first page in another order."""
    return _query_with("sort", sort, without=("cursor", *_OUTCOME_FIELDS))


def _query_with(name: str, value: str, *, without: Sequence[str]) -> str:
    typed = [pair for pair in request.args.items(multi=True) if pair[0] not in (name, *without)]
    return urlencode([*typed, (name, value)])


def _find_redirect(kind: PersonKind) -> Response | None:
    """Return the redirect of a person who may not see the screen yet: to sign in, or to their identity provider."""
    person = session.find_person()
    if person is None:
        return redirect_to_sign_in()
    if person.kind != kind:
        raise Refused(403)
    if person.lacks_second_factor and not request.path.startswith(_WITHOUT_SECOND_FACTOR):
        return redirect(SECOND_FACTOR_PAGE) if not request.headers.get("HX-Request") else redirect_to_sign_in()
    if person.is_due and request.method == "GET" and not request.headers.get("HX-Request"):
        by = sessions.provider_of_kind(kind)
        return redirect(f"/sign-in/with/{by}?{urlencode({'next': request.full_path.removesuffix('?')})}")
    return None


def _check_sender() -> None:
    """Refuse a changing request that was not sent by a page of this origin.

    Subdomains of brands are the same site, so the cookie's SameSite does not exclude them; this check does.
    """
    if request.method in _SAFE_METHODS:
        return
    # Browsers send Sec-Fetch-Site only from trustworthy origins; on plain http there is only Origin.
    fetch_site = request.headers.get("Sec-Fetch-Site")
    is_own_origin = request.headers.get("Origin") == settings.current().web.url
    is_own = is_own_origin if fetch_site is None else fetch_site == "same-origin"
    if not is_own:
        raise Refused(403, "forbidden", "This form was not sent from a page of this service.")


def _check_field_count() -> None:
    """Refuse a form with more fields than any page has. In forms with files the parser limits the parts itself."""
    if request.mimetype == _PLAIN_FORM and request.get_data(cache=True).count(b"&") >= _MAX_FIELDS:
        raise RequestEntityTooLarge


def _render_error(error: Exception) -> Response:
    """Return the page of an error, with the status of the API for it."""
    answer = current_app.make_response(current_app.handle_user_exception(error))
    if answer.status_code == 401:
        return redirect_to_sign_in()
    is_unproven = isinstance(error, Refused) and error.code == "email_verification_required"
    heading, text = _UNVERIFIED_EMAIL if is_unproven else _ERROR_TEXTS.get(answer.status_code, _INTERNAL_ERROR)
    try:
        person = session.find_person()
    except Exception:  # without the database no person can be loaded, and the page shows the error only
        g.person = person = None
    failed = render(
        "failed.html",
        status=answer.status_code,
        heading=heading,
        said=text,
        home=navigation.area_of(person).home if person else "/sign-in",
        request_id=g.request_id if (heading, text) == _INTERNAL_ERROR else None,
    )
    if "Retry-After" in answer.headers:
        failed.headers["Retry-After"] = answer.headers["Retry-After"]
    return failed
