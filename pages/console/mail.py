"""Letters: sent, kept for lack of a mail server, failed and why. The text of one is shown when asked for, and that is
written down.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.operator.mail import list_letters, open_letter, retry_letter
from pages import calls, forms, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("mail_page", __name__)

_MAIL = "/console/mail"
_FILTERS = ("status", "organizationId", "cursor")
_NO_PAGE: Mapping[str, Any] = {"items": (), "nextCursor": None}


@blueprint.get("/console/mail")
@screen("operator", uses=(list_letters, retry_letter))
def show_mail() -> Response:
    """Show letters by the filter in the address, fifty a page. Budget: 1 round trip, however many there are."""
    return _page(forms.EMPTY)


@blueprint.get("/console/mail/<message_id>")
@screen("operator", uses=(open_letter, retry_letter))
def show_letter(message_id: str) -> Response:
    """Show one letter with its text. Budget: 2 round trips."""
    return screens.show("console/letter.html", letter=calls.needed(open_letter, path={"message_id": message_id}))


@blueprint.post("/console/mail/<message_id>/retry")
@screen("operator", uses=(list_letters, retry_letter))
def send_retry(message_id: str) -> Response:
    """Queue a letter again."""
    answer = calls.tried(retry_letter, path={"message_id": message_id}, body={}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_MAIL)
    return _page(FormState(alert=answer.refusal.message), status=422)


def _page(form: FormState, *, status: int = 200) -> Response:
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    answer = calls.call(list_letters, query=wanted)
    found = _NO_PAGE if answer.refusal else answer.data
    if answer.refusal is not None:
        form, status = FormState(alert=" ".join(answer.refusal.fields.values())), 400
    return screens.show(
        "console/mail.html",
        status=status,
        form=form,
        here=_MAIL,
        letters=found["items"],
        next_cursor=found["nextCursor"],
        is_narrowed=any(wanted.values()),
    )
