"""Additional questions for an applicant, behind a link in an email. Works without scripts.

Viewing changes nothing; answers may be sent again while the link is valid and the application undecided. The link is a
secret: the page is not stored and not indexed, and sends no referrer.
Source: tracking spec, section 6, affiliate.application_completed.
"""

from typing import Any

from flask import Blueprint, Response

from api.access.guards import KIB
from api.storefront import second_steps
from api.storefront.second_steps import SecondStepForm
from domain.refusals import Refused
from pages import documents, forms, static_files
from pages.forms import FormState
from pages.hosted.landing import theme
from pages.screens import open_page

blueprint = Blueprint("answers_page", __name__)

# Ten long answers in any script, as a browser encodes them.
_MAX_BYTES = 512 * KIB


@blueprint.get("/p/answers/<token>")
@open_page(bucket="anonymous")
def show_more_questions(token: str) -> Response:
    """Show the additional questions for an applicant, with the answers so far."""
    try:
        application = second_steps.open_form(token)
    except Refused:
        return _render_invalid_link()
    return _render_form(application, forms.prefill_answers(application.answers))


@blueprint.post("/p/answers/<token>")
@open_page(bucket="anonymous", max_bytes=_MAX_BYTES)
def send_more_answers(token: str) -> Response:
    """Store the answers and say thank you, or show the form again with its errors."""
    try:
        application = second_steps.open_form(token)
        second_steps.submit_by_link(token, forms.read_answers(), form_key=forms.idempotency_key())
    except Refused as refusal:
        if refusal.status != 400:
            return _render_invalid_link()
        return _render_form(application, forms.form_with_errors(_errors_from_refusal(refusal)), status=400)
    return _render_form(application, forms.EMPTY, is_done=True)


def _errors_from_refusal(refusal: Refused) -> dict[str, str]:
    faults: Any = refusal.more["errors"]  # a refusal of answers has an error for each
    return {name: why for name, (why,) in faults.items()}


def _render_form(application: SecondStepForm, form: FormState, *, status: int = 200, is_done: bool = False) -> Response:
    return documents.render_page(
        "hosted/answers.html",
        status=status,
        allows=dict.fromkeys(("style-src", "img-src"), "'self'"),
        style=theme.url(None),
        new_key=forms.new_key,
        static=static_files.url,
        asked=application,
        form=form,
        is_done=is_done,
    )


def _render_invalid_link() -> Response:
    # The same for every invalid link, so that it reveals nothing about its owner.
    return documents.render_notice(
        "No open questions",
        "The link may be mistyped or expired, or the application has been decided.",
        title="Page not found",
        status=410,
    )
