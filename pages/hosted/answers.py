"""What the link in a letter opens for somebody who applied: a few more questions. Works without scripts.

Looking at it changes nothing, and handing in may be repeated while the link lasts and nobody has decided. The link is a
secret: the page is not stored, not indexed and not named to the pages that it leads to.
Source: tracking spec, section 6, affiliate.application_completed.
"""

from typing import Any

from flask import Blueprint, Response

from api.access.guards import KIB
from api.storefront import answering
from api.storefront.answering import Asked
from domain.refused import Refused
from pages import documents, forms, static_files
from pages.forms import FormState
from pages.hosted.landing import theme
from pages.screens import open_page

blueprint = Blueprint("answers_page", __name__)

# What a browser makes of ten long answers in any script.
_MOST_BYTES = 512 * KIB


@blueprint.get("/p/answers/<token>")
@open_page(bucket="anonymous")
def show_more_questions(token: str) -> Response:
    """Show what else is asked of somebody who applied, with what they answered so far."""
    try:
        asked = answering.opened(token)
    except Refused:
        return _over()
    return _form(asked, forms.prefill_answers(asked.answers))


@blueprint.post("/p/answers/<token>")
@open_page(bucket="anonymous", max_bytes=_MOST_BYTES)
def send_more_answers(token: str) -> Response:
    """Take the answers and say thank you, or show the form again with what is wrong."""
    try:
        asked = answering.opened(token)
        answering.hand_in_by_link(token, forms.read_answers(), form_key=forms.idempotency_key())
    except Refused as refusal:
        if refusal.status != 400:
            return _over()
        return _form(asked, forms.form_with_errors(_faults(refusal)), status=400)
    return _form(asked, forms.EMPTY, is_done=True)


def _faults(refusal: Refused) -> dict[str, str]:
    faults: Any = refusal.more["errors"]  # of answers that are refused it always says of each why
    return {name: why for name, (why,) in faults.items()}


def _form(asked: Asked, form: FormState, *, status: int = 200, is_done: bool = False) -> Response:
    return documents.render_page(
        "hosted/answers.html",
        status=status,
        allows=dict.fromkeys(("style-src", "img-src"), "'self'"),
        style=theme.url(None),
        new_key=forms.new_key,
        static=static_files.url,
        asked=asked,
        form=form,
        is_done=is_done,
    )


def _over() -> Response:
    # The same for every link that opens nothing, so that it tells nobody whose it was.
    return documents.render_notice(
        "Nothing is asked here",
        "The link may have been mistyped, its time may have passed, or the application has been decided.",
        title="Nothing here",
        status=410,
    )
