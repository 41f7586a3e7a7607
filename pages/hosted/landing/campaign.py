"""The landing page of a campaign, and its application form, which works without scripts.

Whoever applies gets one answer, whatever became of it; what the application refuses stands next to its field. The form
takes nobody's session, and is taken from pages of the very host that was asked alone, as every form of ours.
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
from api.storefront.landing_page import FoundPage, LandingPage
from domain.refused import Refused
from pages import api_client, documents, forms
from pages.api_client import ApiResult
from pages.forms import FormState
from pages.hosted.landing import shown
from pages.screens import open_page

blueprint = Blueprint("landing", __name__)

# What the application takes, as forms send it: three bytes for each of another script.
_MOST_BYTES = 768 * 1024
_FIELDS = ("email", "fullName", "website", "audience", "whyInterested", "customAlias")
_RECRUITER, _LONGEST_RECRUITER = "recruited_by", 255
_APPLIED = "applied"
_WRONG_EMAIL = "Enter an email address, such as name@example.com."
_SAID = {
    413: "This is more than the form takes. Shorten your answers.",
    429: "There were many applications from where you are. Wait a minute, then send this again.",
}
_SENT_BEFORE = "This form was sent before with other answers. Look through them and send it again."


class CampaignSlug(BaseConverter):
    """The first part of an address, where no page of the service begins with it."""

    regex = "[A-Za-z0-9-]{3,64}"

    def __init__(self, map: Map) -> None:
        super().__init__(map)
        self._taken: frozenset[str] | None = None

    def to_python(self, value: str) -> str:
        if self._taken is None:  # the routes are all there once the first request comes
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
    return _shown(handle, campaign)


@blueprint.post("/p/<handle>", strict_slashes=False)
@blueprint.post("/p/<handle>/<campaign>", strict_slashes=False)
@open_page(bucket="anonymous", max_bytes=_MOST_BYTES)
def send_application(handle: str, campaign: str | None = None) -> Response:
    """Take an application, and lead to the one answer; or show the form again with what is wrong."""
    found = _found(handle, campaign)
    if found is None:
        return shown.nothing()
    page = found.page
    if found.is_renamed:
        return _moved(page, 308)
    body: dict[str, Any] = {name: said for name in _FIELDS if (said := _typed(name))}
    if page.record["applicationForm"]:
        body["answers"] = forms.read_answers()
    if recruiter := _recruiter():
        body["recruitedBy"] = recruiter
    answer = api_client.call_anonymously(
        apply_to_program, path={"program_id": page.record["id"]}, body=body, key=forms.idempotency_key()
    )
    if answer.status == 404:
        return shown.nothing()
    if answer.refusal is not None:
        return _again(page, answer)
    headers = documents.page_headers() | {"Location": f"{page.path}?{_APPLIED}=1#apply"}
    return Response(status=303, headers=headers)


@blueprint.get("/<campaign_slug:campaign>")
@operation(Guard(audience="public", bucket=None), documents.HTML, is_described=False)
def show_campaign_of_host(campaign: str) -> Response:
    """Show the page of a campaign on its brand's own host, as recruiting links name it. Budget: 2 statements."""
    at = landing_page.any_org_place()
    if at is None:
        raise NotFound
    _, place = at
    return _shown(place.handle, campaign, base="")


def page_of_host() -> Response | None:
    """Return the page of the campaign whose host was asked, None where it is no brand's. Budget: 2 statements."""
    at = landing_page.any_org_place()
    if at is None:
        return None
    _, place = at
    return _shown(place.handle, place.slug)


def _shown(handle: str, campaign: str | None, *, base: str | None = None) -> Response:
    found = _found(handle, campaign)
    if found is None:
        return shown.nothing()
    if found.is_renamed:
        return _moved(found.page, 301, base)
    return shown.landing(found.page, recruiter=_recruiter(), is_applied=_APPLIED in request.args)


def _found(handle: str, campaign: str | None) -> FoundPage | None:
    try:
        return landing_page.any_org_find(handle=handle, campaign=campaign)
    except Refused:
        return None


def _moved(page: LandingPage, status: int, base: str | None = None) -> Response:
    """Return the way to the slug that a campaign has now, with what stood in the address."""
    to = page.path if base is None else f"{base}/{page.record['slug']}"
    query = urlencode(list(request.args.items(multi=True)))
    headers = documents.page_headers() | {"Location": f"{to}?{query}" if query else to}
    return Response(status=status, headers=headers)


def _typed(name: str) -> str:
    return request.form.get(name, "").replace("\r\n", "\n").strip()


def _recruiter() -> str:
    typed = request.form.get(_RECRUITER) if request.method == "POST" else None
    sent = typed or request.args.get(_RECRUITER) or ""
    return sent if len(sent) <= _LONGEST_RECRUITER else ""


def _again(page: LandingPage, answer: ApiResult) -> Response:
    refusal = answer.refusal
    assert refusal is not None
    if answer.status >= 500:
        raise Refused(answer.status, refusal.code or "refused", refusal.message)
    form = forms.form_from_refusal(answer)
    said = _SENT_BEFORE if refusal.code == "idempotency_conflict" else _SAID.get(answer.status)
    if said is not None:
        form = FormState(form.values, {}, said)
    elif "email" in form.errors:
        form = FormState(form.values, {**form.errors, "email": _WRONG_EMAIL}, form.alert)
    return shown.landing(page, status=answer.status, form=form, recruiter=_recruiter())
