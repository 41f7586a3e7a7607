"""The creator network: programs that brands want to list there, approved or rejected with a reason."""

from collections.abc import Mapping

from flask import Blueprint, Response, request

from api.operator.programs.network import (
    approve_network_program,
    get_network_review,
    list_network_reviews,
    reject_network_program,
    revoke_network_program,
)
from pages import api_client, screens
from pages.form_pages import Form, form_page
from pages.forms import FormState
from pages.list_pages import RowList, read_filter
from pages.screens import screen

blueprint = Blueprint("operator_network_page", __name__)

_NETWORK = "/console/network"
_REVIEWS = RowList(list_network_reviews, ("status",))


@blueprint.get(_NETWORK)
@screen("operator", uses=(list_network_reviews,))
def show_network_reviews() -> Response:
    """Show programs to review, or decided ones by the filter. Budget: 1 round trip, however many there are."""
    status = read_filter("status") or "Pending"
    return screens.render("console/network.html", **_REVIEWS.read().values(), status_filter=status)


def _read_decision() -> Mapping[str, str]:
    return {name: request.form[name] for name in ("why", "askedAt") if name in request.form}


_DECISIONS = (
    Form("/approve", approve_network_program, _read_decision, to=_NETWORK),
    Form("/reject", reject_network_program, _read_decision, to=_NETWORK),
    Form("/revoke", revoke_network_program, _read_decision, to=_NETWORK),
)


@form_page(blueprint, "operator", f"{_NETWORK}/<program_id>", *_DECISIONS, uses=(get_network_review,), restores=True)
def show_network_review(form: FormState | None, program_id: str) -> Response:
    """Show everything that a program advertises, with a form to decide. Budget: 1 round trip."""
    program = api_client.require(get_network_review, path={"program_id": program_id})
    return screens.render("console/network_review.html", form, program=program)
