"""The creator network: programs of every brand that one may apply to, and the form with which one does."""

from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, request

from api.me.network import apply_to_network_program, get_network_program, list_network_programs
from pages import calls, forms, screens
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_discover_page", __name__)

_HERE = "/portal/discover"
_ONE = f"{_HERE}/<listed_id>"
_FILTERS = ("category", "commissionModel", "currency", "cursor")
_ANSWERS = ("fullName", "website", "audience", "whyInterested")
_A_PAGE = "20"
# What a browser makes of ten long answers in any script.
_MOST_BYTES = 512 * 1024
_NO_PAGE = {"items": (), "nextCursor": None}


@blueprint.get(_HERE)
@screen("account", uses=(*frame.USES, list_network_programs))
def show_network() -> Response:
    """Show programs of the network by the filter in the address, twenty a page. Budget: 2 round trips."""
    wanted = {name: request.args.get(name, "").strip() or None for name in _FILTERS}
    answer = calls.call(list_network_programs, query={**wanted, "take": _A_PAGE})
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        form, page = FormState(alert=" ".join(answer.refusal.fields.values())), _NO_PAGE
    return frame.show(
        "discover.html",
        status=answer.status,
        form=form,
        programs=page["items"],
        next_cursor=page["nextCursor"],
        is_narrowed=any(wanted.values()),
    )


@blueprint.get(_ONE)
@screen("account", uses=(*frame.USES, get_network_program))
def show_network_program(listed_id: str) -> Response:
    """Show one program with a form to apply. Budget: 5 round trips."""
    return _page(listed_id, forms.EMPTY)


@blueprint.post(f"{_ONE}/apply")
@screen("account", uses=(*frame.USES, get_network_program, apply_to_network_program), most_bytes=_MOST_BYTES)
def send_network_application(listed_id: str) -> Response:
    """Apply with the address that one is signed in with, and lead to how one stands now."""
    sent = {name: request.form.get(name, "").strip() for name in _ANSWERS}
    body: dict[str, Any] = {name: value for name, value in sent.items() if value}
    body["answers"] = forms.answers()
    answer = calls.tried(apply_to_network_program, path={"program_id": listed_id}, body=body, key=forms.key())
    if answer.refusal is not None:
        return _page(listed_id, forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(f"{_HERE}/{listed_id}")


def _page(listed_id: str, form: FormState, *, status: int = 200) -> Response:
    program = calls.needed(get_network_program, path={"program_id": listed_id})
    # The path alone: what a page loads is of its own origin.
    logo = urlsplit(program["logoUrl"]).path if program["logoUrl"] else None
    asked = program["applicationForm"]
    questions = asked["fields"] if asked else []
    return frame.show("discovered.html", status=status, form=form, program=program, logo=logo, questions=questions)
