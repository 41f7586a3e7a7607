"""What a brand asks of who applies: where one applies to a program with a form, and the second step afterwards."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.me.applications import list_own_applications, submit_own_answers
from api.me.person import list_program_offers
from api.storefront.application import apply_to_program
from domain.refused import not_found
from pages import calls, forms, screens, session
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_applications_page", __name__)

_PROGRAMS = "/portal/programs"
_APPLYING = (*frame.USES, list_program_offers, apply_to_program)
_ANSWERING = (*frame.USES, list_own_applications, submit_own_answers)
# What a browser makes of ten long answers in any script.
_MOST_BYTES = 512 * 1024


@blueprint.get(f"{_PROGRAMS}/<offer_id>/apply")
@screen("account", uses=_APPLYING)
def show_application(offer_id: str) -> Response:
    """Show what an offered program asks of who applies. Budget: 5 round trips."""
    return _asked_first(_offer(offer_id), forms.EMPTY)


@blueprint.post(f"{_PROGRAMS}/<offer_id>/apply")
@screen("account", uses=_APPLYING, most_bytes=_MOST_BYTES)
def apply_to_offer(offer_id: str) -> Response:
    """Apply to a program that is offered, with the address that one is signed in with."""
    offer = _offer(offer_id)
    body = {"email": session.person().email, "answers": forms.answers()}
    answer = calls.tried(apply_to_program, path={"program_id": offer_id}, body=body, key=forms.key())
    if answer.refusal is not None:
        return _asked_first(offer, forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_PROGRAMS)


@blueprint.get("/portal/applications/<application_id>")
@screen("account", uses=_ANSWERING)
def show_second_step(application_id: str) -> Response:
    """Show what else is asked, with what was answered so far. Budget: 5 round trips."""
    application = _application(application_id)
    return _asked_more(application, forms.answered(application["answers"]))


@blueprint.post("/portal/applications/<application_id>")
@screen("account", uses=_ANSWERING, most_bytes=_MOST_BYTES)
def send_second_step(application_id: str) -> Response:
    """Hand in the second step, and lead to the programs."""
    application = _application(application_id)
    answer = calls.tried(
        submit_own_answers,
        path={"affiliate_id": application["affiliateId"]},
        body={"answers": forms.answers()},
        key=forms.key(),
    )
    if answer.refusal is not None:
        return _asked_more(application, forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_PROGRAMS)


def _offer(program_id: str) -> Mapping[str, Any]:
    offers = calls.needed(list_program_offers)
    offer: Mapping[str, Any] | None = next((one for one in offers if one["programId"] == program_id), None)
    if offer is None:
        raise not_found("program", program_id)
    return offer


def _application(affiliate_id: str) -> Mapping[str, Any]:
    held = calls.needed(list_own_applications)
    found: Mapping[str, Any] | None = next((one for one in held if one["affiliateId"] == affiliate_id), None)
    if found is None or not (found["isOpen"] or found["completedAt"]):
        raise not_found("application", affiliate_id)
    return found


def _asked_first(offer: Mapping[str, Any], form: FormState, *, status: int = 200) -> Response:
    asked = offer["applicationForm"]
    questions = asked["fields"] if asked else []
    address = f"{_PROGRAMS}/{offer['programId']}/apply"
    return frame.show("apply.html", status=status, form=form, offer=offer, questions=questions, address=address)


def _asked_more(application: Mapping[str, Any], form: FormState, *, status: int = 200) -> Response:
    address = f"/portal/applications/{application['affiliateId']}"
    return frame.show("application.html", status=status, form=form, application=application, address=address)
