"""The creator network: what brands want to advertise there, let in or turned down with a reason."""

from flask import Blueprint, Response, request

from api.operator.programs.network import (
    approve_network_program,
    get_network_review,
    list_network_reviews,
    reject_network_program,
    revoke_network_program,
)
from pages import calls, forms, kept, screens
from pages.calls import View
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("operator_network_page", __name__)

_NETWORK = "/console/network"
_ONE = f"{_NETWORK}/<program_id>"
_FILTERS = ("status", "cursor")
_NO_PAGE = {"items": (), "nextCursor": None}


@blueprint.get(_NETWORK)
@screen("operator", uses=(list_network_reviews,))
def show_network_reviews() -> Response:
    """Show what waits for a review, or by the filter what is decided. Budget: 1 round trip, however many there are."""
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    answer = calls.call(list_network_reviews, query=wanted)
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        form, page = FormState(alert=" ".join(answer.refusal.fields.values())), _NO_PAGE
    return screens.show(
        "console/network.html",
        status=answer.status,
        form=form,
        programs=page["items"],
        next_cursor=page["nextCursor"],
        wanted=wanted["status"] or "Pending",
    )


@blueprint.get(_ONE)
@screen("operator", uses=(get_network_review,))
def show_network_review(program_id: str) -> Response:
    """Show all that a program advertises, with a form to decide. Budget: 1 round trip."""
    return _page(program_id, kept.form() or forms.EMPTY)


@blueprint.post(f"{_ONE}/approve")
@screen("operator", uses=(get_network_review, approve_network_program))
def send_network_approval(program_id: str) -> Response:
    """Let affiliates find the program that was looked at."""
    return _decided(program_id, approve_network_program)


@blueprint.post(f"{_ONE}/reject")
@screen("operator", uses=(get_network_review, reject_network_program))
def send_network_rejection(program_id: str) -> Response:
    """Turn down the program that was looked at, which wants a reason."""
    return _decided(program_id, reject_network_program)


@blueprint.post(f"{_ONE}/revoke")
@screen("operator", uses=(get_network_review, revoke_network_program))
def send_network_revocation(program_id: str) -> Response:
    """Take a program out of the network, which wants a reason as well."""
    return _decided(program_id, revoke_network_program)


def _decided(program_id: str, view: View) -> Response:
    body = {name: request.form[name] for name in ("why", "askedAt") if name in request.form}
    answer = calls.tried(view, path={"program_id": program_id}, body=body, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_NETWORK)
    return _page(program_id, forms.refused(answer.refusal), status=422)


def _page(program_id: str, form: FormState, *, status: int = 200) -> Response:
    program = calls.needed(get_network_review, path={"program_id": program_id})
    here = f"{_NETWORK}/{program['programId']}"
    return screens.show("console/network_review.html", status=status, form=form, program=program, here=here)
