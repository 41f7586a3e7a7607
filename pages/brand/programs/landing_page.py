"""The landing page of a program: its texts and picture, and a preview before visitors see it."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, request
from marshmallow import ValidationError

from api.organization.organization import get_organization
from api.programs.hero_images import create_hero_image
from api.programs.programs import change_program, get_program
from api.storefront import landing_page
from domain.landing_limits import MAX_PICTURE_BYTES, MAX_SECTIONS
from domain.programs import application_form
from domain.refusals import Refused
from pages import api_client, forms, screens, template_filters
from pages.api_client import ApiResult
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.hosted.landing import rendering
from pages.screens import screen
from schemas.programs.landing_page import LandingPageBody

blueprint = Blueprint("program_landing_page", __name__)

_PAGE = "/dashboard/programs/<program_id>/landing-page"
_READS = (get_program, get_organization)
# The texts in any script, as forms send them, and a picture.
_MAX_FORM_BYTES = MAX_PICTURE_BYTES + 512 * 1024
_TOO_LARGE = f"The file is larger than {MAX_PICTURE_BYTES // 1024**2} MiB."
# Empty sections of the form; once they are filled in, more are shown.
_SPARE_SECTIONS, _MIN_SECTIONS = 2, 3
_BODY = LandingPageBody()
_EMPTY_PAGE: Mapping[str, Any] = {
    "headline": None,
    "intro": None,
    "sections": [],
    "heroImageId": None,
    "accentColor": None,
    "showTerms": True,
}


@blueprint.get(f"{_PAGE}/preview")
@screen("member", uses=_READS)
def show_landing_preview(program_id: str) -> Response:
    """Show the stored page, even while it is not public. Budget: 2 round trips."""
    program, organization = _get_program_and_brand(program_id)
    return _render_preview(program, organization, program["landingPageConfig"] or _EMPTY_PAGE)


def _get_program_and_brand(program_id: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return api_client.require(get_program, path={"program_id": program_id}), api_client.require(get_organization)


def _render_preview(program: Mapping[str, Any], organization: Mapping[str, Any], config: Mapping[str, Any]) -> Response:
    picture = config["heroImageId"]
    record = {
        **program,
        "organizationName": organization["name"],
        "organizationDescription": organization["description"],
        "logoUrl": organization["logoUrl"],
        "faviconUrl": organization["faviconUrl"],
        "customAliasSupported": True,
        "applicationForm": application_form.first_step(program["applicationForm"]),
        "landingPageConfig": {**config, "heroImageUrl": f"/api/brand-files/{picture}" if picture else None},
    }
    return rendering.render_landing_page(_landing_page(program, organization, record), is_preview=True)


def _landing_page(
    program: Mapping[str, Any], organization: Mapping[str, Any], record: Mapping[str, Any]
) -> landing_page.LandingPage:
    return landing_page.build_page(
        record,
        earns=template_filters.describe_terms(program),
        color=organization["primaryBrandColor"],
        handle=organization["subdomain"] or "",
        verified_domain=program["customDomain"] if program["customDomainVerified"] else None,
    )


def _read_page(picture: str | None) -> tuple[dict[str, Any], Sequence[int]]:
    """Return the typed page, and the place of each of its sections in the form."""
    written = {
        place: {part: _read_text(f"{part}-{place}") for part in ("title", "text")} for place in range(MAX_SECTIONS)
    }
    places = [place for place, section in written.items() if any(section.values())]
    config = {
        "headline": _read_text("headline") or None,
        "intro": _read_text("intro") or None,
        "sections": [written[place] for place in places],
        "heroImageId": picture,
        "accentColor": _read_text("accentColor") or None,
        "showTerms": "showTerms" in request.form,
    }
    return config, places


def _read_text(name: str) -> str:
    return request.form.get(name, "").replace("\r\n", "\n").strip()


def _read_picture_id() -> str | None:
    """Return the id of the page's picture; None to remove it."""
    return None if "noPicture" in request.form else request.form.get("heroImageId") or None


def _store_picture() -> str | FormState | None:
    """Return the id of the page's new picture, or the form with the error of the chosen one."""
    content = forms.read_file("file", MAX_PICTURE_BYTES)
    if not content:
        return _read_picture_id()
    if len(content) > MAX_PICTURE_BYTES:
        return forms.form_with_errors({"file": _TOO_LARGE})
    picture_body = {"dataBase64": base64.b64encode(content).decode()}
    answer = api_client.submit(create_hero_image, body=picture_body, key=forms.idempotency_key())
    if answer.refusal is not None:
        return forms.form_with_errors({"file": answer.refusal.message})
    return str(answer.data["id"])


def _form_from_refusal(answer: ApiResult, places: Sequence[int], picture: str | None) -> FormState:
    assert answer.refusal is not None
    errors = answer.refusal.more.get("errors", {}).get("landingPageConfig")
    if isinstance(errors, dict):
        return replace(_form_with_errors(errors, places, picture), status=answer.status)
    return _keep_picture(
        FormState(forms.form_from_request().values, {}, answer.refusal.message, status=answer.status), picture
    )


def _form_with_errors(api_errors: Mapping[str, Any], places: Sequence[int], picture: str | None) -> FormState:
    """Return the form with each error at its field; `places` are the places of the sections in it."""
    errors: dict[str, str] = {}
    for name, error in api_errors.items():
        if isinstance(error, dict):
            for number, parts in error.items():
                section_errors = parts.items() if isinstance(parts, dict) else ()
                errors |= {f"{part}-{places[int(number)]}": str(messages[0]) for part, messages in section_errors}
        else:
            errors[name] = str(error[0])
    return _keep_picture(forms.form_with_errors(errors), picture)


def _keep_picture(form: FormState, picture: str | None) -> FormState:
    """Return a form that keeps the id of a picture that was stored already."""
    return replace(form, values={**form.values, "heroImageId": [picture] if picture else []})


def _save(program_id: str) -> Response | FormState:
    """Store a new picture if there is one, then the texts of the page, and show it."""
    if not api_client.is_allowed(change_program):
        raise Refused(403)
    picture = _store_picture()
    if isinstance(picture, FormState):
        return picture
    config, places = _read_page(picture)
    body = {"landingPageConfig": None if config == _EMPTY_PAGE else config}
    answer = send(change_program, path={"program_id": program_id}, body=body)
    if answer.refusal is not None:
        return _form_from_refusal(answer, places, picture)
    return screens.redirect(f"/dashboard/programs/{program_id}/landing-page?done=saved")


def _preview_form(program_id: str) -> Response | FormState:
    """Show a preview with the typed values; a picture that is chosen but not stored is not in it."""
    program, organization = _get_program_and_brand(program_id)
    config, places = _read_page(_read_picture_id())
    try:
        return _render_preview(program, organization, _BODY.load(config))
    except ValidationError as error:
        messages = {str(name): message for name, message in error.normalized_messages().items()}
        return _form_with_errors(messages, places, _read_picture_id())


def _fill_form(config: Mapping[str, Any]) -> FormState:
    values = {name: config[name] for name in ("headline", "intro", "accentColor", "heroImageId")}
    values["showTerms"] = "on" if config["showTerms"] else None
    for place, section in enumerate(config["sections"]):
        values |= {f"title-{place}": section["title"], f"text-{place}": section["text"]}
    return forms.prefill(**values)


_FORMS = (
    CustomForm("", _save, (change_program, create_hero_image), _MAX_FORM_BYTES),
    CustomForm("/preview", _preview_form, (), _MAX_FORM_BYTES),
)


@form_page(blueprint, "member", _PAGE, *_FORMS, uses=_READS)
def show_landing_words(form: FormState | None, program_id: str) -> Response:
    """Show the form of the page. Budget: 2 round trips."""
    program, organization = _get_program_and_brand(program_id)
    form = form or _fill_form(program["landingPageConfig"] or _EMPTY_PAGE)
    filled = [place for place in range(MAX_SECTIONS) if form.value(f"title-{place}") or form.value(f"text-{place}")]
    number = min(MAX_SECTIONS, max(_MIN_SECTIONS, (filled[-1] + 1 if filled else 0) + _SPARE_SECTIONS))
    page = _landing_page(program, organization, {**program, "landingPageConfig": {}})
    picture = form.value("heroImageId")
    return screens.render(
        "brand/programs/landing_page.html",
        form,
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        address=page.address if organization["subdomain"] else None,
        path=page.path,
        is_open=program["isActive"] and not program["archivedAt"],
        sections=range(number),
        picture=urlsplit(f"/api/brand-files/{picture}").path if picture else None,
        most=MAX_PICTURE_BYTES // 1024**2,
        can_change=api_client.is_allowed(change_program) and not program["archivedAt"],
        is_saved=request.args.get("done") == "saved",
    )
