"""The landing page of a campaign, and its application form, which works without scripts.

Every accepted application gets the same response, whatever its result; errors are shown next to their fields. The form
uses no session, and is accepted only from pages of the requested host, as every form of the service.
Source: tracking spec, "Public storefront"; core spec, "Program" (isPubliclyDiscoverable, customDomain).
"""

from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter, Map, ValidationError

from api.access.guards import Guard
from api.edge.operations import operation
from api.storefront import landing_page
from api.storefront.application import apply_to_program
from api.storefront.landing_page import LandingPage, LandingPageResult
from domain.refusals import Refused
from pages import api_client, documents, forms
from pages.api_client import ApiResult
from pages.forms import FormState
from pages.hosted.landing import rendering
from pages.screens import open_page

blueprint = Blueprint("landing", __name__)

# The maximum of an application as forms encode it: three bytes for each one of a non-Latin script.
_MAX_BYTES = 768 * 1024
_FIELDS = ("email", "fullName", "website", "audience", "whyInterested", "customAlias")
_RECRUITER, _MAX_RECRUITER_LENGTH = "recruited_by", 255
_APPLIED = "applied"
_WRONG_EMAIL = "Enter an email address, such as name@example.com."
_ALERTS = {
    413: "Your answers are too long. Please shorten them.",
    429: "Too many applications from your network. Please wait a minute and send the form again.",
}
_CONFLICT_ALERT = "This form was already sent with different answers. Please check your answers and send it again."


class CampaignSlug(BaseConverter):
    """The first part of an address that no page of the service starts with."""

    regex = "[A-Za-z0-9-]{3,64}"

    def __init__(self, map: Map) -> None:
        super().__init__(map)
        self._taken: frozenset[str] | None = None

    def to_python(self, value: str) -> str:
        if self._taken is None:  # all routes are registered before the first request
            self._taken = frozenset(rule.rule.split("/")[1] for rule in self.map.iter_rules())
        if value in self._taken:
            raise ValidationError
        return value


blueprint.record(lambda state: state.app.url_map.converters.update(campaign_slug=CampaignSlug))


@blueprint.get("/p/<handle>", strict_slashes=False)
@blueprint.get("/p/<handle>/<campaign>", strict_slashes=False)
@open_page(bucket="anonymous")
def show_landing_page(handle: str, campaign: str | None = None) -> Response:
    """Show the page of a campaign, or of the brand's main one. Budget: 1 statement."""
    return _render_campaign(handle, campaign)


@blueprint.post("/p/<handle>", strict_slashes=False)
@blueprint.post("/p/<handle>/<campaign>", strict_slashes=False)
@open_page(bucket="anonymous", max_bytes=_MAX_BYTES)
def send_application(handle: str, campaign: str | None = None) -> Response:
    """Take an application and redirect to the common response, or show the form again with its errors."""
    requested = _find_page(handle, campaign)
    if requested is None:
        return rendering.render_not_found()
    page = requested.page
    if requested.is_renamed:
        return _redirect_renamed(page, 308)
    body: dict[str, Any] = {name: text for name in _FIELDS if (text := _read_text(name))}
    if page.record["applicationForm"]:
        body["answers"] = forms.read_answers()
    if recruiter := _read_recruiter():
        body["recruitedBy"] = recruiter
    answer = api_client.call_anonymously(
        apply_to_program, path={"program_id": page.record["id"]}, body=body, key=forms.idempotency_key()
    )
    if answer.status == 404:
        return rendering.render_not_found()
    if answer.refusal is not None:
        return _render_refused(page, answer)
    headers = documents.page_headers() | {"Location": f"{page.path}?{_APPLIED}=1#apply"}
    return Response(status=303, headers=headers)


@blueprint.get("/<campaign_slug:campaign>")
@operation(Guard(audience="public", bucket=None), documents.HTML, is_described=False)
def show_campaign_of_host(campaign: str) -> Response:
    """Show the page of a campaign on its brand's own host, as recruiting links name it. Budget: 2 statements."""
    at = landing_page.any_org_find_brand_host()
    if at is None:
        raise NotFound
    _, place = at
    return _render_campaign(place.handle, campaign, base="")


def render_host_page() -> Response | None:
    """Return the page of the requested host's campaign; None if it is not a brand's host. Budget: 2 statements."""
    at = landing_page.any_org_find_brand_host()
    if at is None:
        return None
    _, place = at
    return _render_campaign(place.handle, place.slug)


def _render_campaign(handle: str, campaign: str | None, *, base: str | None = None) -> Response:
    requested = _find_page(handle, campaign)
    if requested is None:
        return rendering.render_not_found()
    if requested.is_renamed:
        return _redirect_renamed(requested.page, 301, base)
    return rendering.render_landing_page(
        requested.page, recruiter=_read_recruiter(), is_applied=_APPLIED in request.args
    )


def _find_page(handle: str, campaign: str | None) -> LandingPageResult | None:
    try:
        return landing_page.any_org_find(handle=handle, campaign=campaign)
    except Refused:
        return None


def _redirect_renamed(page: LandingPage, status: int, base: str | None = None) -> Response:
    """Return a redirect to a campaign's current slug, with the query of the address."""
    to = page.path if base is None else f"{base}/{page.record['slug']}"
    query = urlencode(list(request.args.items(multi=True)))
    headers = documents.page_headers() | {"Location": f"{to}?{query}" if query else to}
    return Response(status=status, headers=headers)


def _read_text(name: str) -> str:
    return request.form.get(name, "").replace("\r\n", "\n").strip()


def _read_recruiter() -> str:
    form_value = request.form.get(_RECRUITER) if request.method == "POST" else None
    recruiter = form_value or request.args.get(_RECRUITER) or ""
    return recruiter if len(recruiter) <= _MAX_RECRUITER_LENGTH else ""


def _render_refused(page: LandingPage, answer: ApiResult) -> Response:
    refusal = answer.refusal
    assert refusal is not None
    if answer.status >= 500:
        raise Refused(answer.status, refusal.code or "refused", refusal.message)
    form = forms.form_from_refusal(answer)
    alert = _CONFLICT_ALERT if refusal.code == "idempotency_conflict" else _ALERTS.get(answer.status)
    if alert is not None:
        form = FormState(form.values, {}, alert)
    elif "email" in form.errors:
        form = FormState(form.values, {**form.errors, "email": _WRONG_EMAIL}, form.alert)
    return rendering.render_landing_page(page, status=answer.status, form=form, recruiter=_read_recruiter())
