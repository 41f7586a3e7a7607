"""Applications of an affiliate: the form for an offered program, and the second step afterwards."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.me.applications import list_own_applications, submit_own_answers
from api.me.person import list_program_offers
from api.storefront.application import apply_to_program
from domain.refusals import not_found
from pages import api_client, forms, session
from pages.form_pages import CustomForm, form_page, send_form
from pages.forms import FormState
from pages.portal import frame

blueprint = Blueprint("portal_applications_page", __name__)

_PROGRAMS = "/portal/programs"
# Ten long answers in any script, as a browser encodes them.
_MAX_BYTES = 512 * 1024


def _apply_to_offer(offer_id: str) -> Response | FormState:
    """Apply to an offered program with the email of the signed-in person."""
    _find_offer(offer_id)
    body = {"email": session.require_person().email, "answers": forms.read_answers()}
    return send_form(apply_to_program, path={"program_id": offer_id}, body=body, to=_PROGRAMS)


@form_page(
    blueprint,
    "account",
    f"{_PROGRAMS}/<offer_id>/apply",
    CustomForm("", _apply_to_offer, (apply_to_program,), _MAX_BYTES),
    uses=(*frame.USES, list_program_offers),
)
def show_application(form: FormState | None, offer_id: str) -> Response:
    """Show the application form of an offered program. Budget: 5 round trips."""
    offer = _find_offer(offer_id)
    application = offer["applicationForm"]
    return frame.render(
        "apply.html",
        form,
        offer=offer,
        questions=application["fields"] if application else [],
        address=f"{_PROGRAMS}/{offer['programId']}/apply",
    )


def _submit_answers(application_id: str) -> Response | FormState:
    """Send the answers of the second step, and redirect to the programs."""
    path = {"affiliate_id": _find_application(application_id)["affiliateId"]}
    return send_form(submit_own_answers, path=path, body={"answers": forms.read_answers()}, to=_PROGRAMS)


@form_page(
    blueprint,
    "account",
    "/portal/applications/<application_id>",
    CustomForm("", _submit_answers, (submit_own_answers,), _MAX_BYTES),
    uses=(*frame.USES, list_own_applications),
)
def show_second_step(form: FormState | None, application_id: str) -> Response:
    """Show the questions of the second step, with the answers so far. Budget: 5 round trips."""
    application = _find_application(application_id)
    form = form or forms.prefill_answers(application["answers"])
    address = f"/portal/applications/{application['affiliateId']}"
    return frame.render("application.html", form, application=application, address=address)


def _find_offer(program_id: str) -> Mapping[str, Any]:
    offers = api_client.require(list_program_offers)
    offer: Mapping[str, Any] | None = next((row for row in offers if row["programId"] == program_id), None)
    if offer is None:
        raise not_found("program", program_id)
    return offer


def _find_application(affiliate_id: str) -> Mapping[str, Any]:
    applications = api_client.require(list_own_applications)
    application: Mapping[str, Any] | None = next(
        (row for row in applications if row["affiliateId"] == affiliate_id), None
    )
    if application is None or not (application["isOpen"] or application["completedAt"]):
        raise not_found("application", affiliate_id)
    return application
