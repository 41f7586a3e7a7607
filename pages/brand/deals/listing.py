"""Deals: where each stands, and what of it is in escrow."""

from flask import Blueprint, Response, request

from api.deals.deals import create_deal, list_deals
from api.programs.programs import list_programs
from domain.deals.states import DealStatus
from pages import calls, forms, screens
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("deals_page", __name__)

_FILTERS = ("status", "programId", "cursor")


@blueprint.get("/dashboard/deals")
@screen("member", uses=(create_deal, list_deals, list_programs))
def show_deals() -> Response:
    """Show deals by the filter in the address. Budget: 3 round trips, however many there are."""
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    answer = calls.call(list_deals, query=wanted)
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        form = FormState(alert=" ".join(answer.refusal.fields.values()) or answer.refusal.message)
        page = {"items": [], "nextCursor": None}
    return screens.show(
        "brand/deals.html",
        status=answer.status,
        form=form,
        deals=page["items"],
        next_cursor=page["nextCursor"],
        programs=choices.programs(),
        states=[(state.value, state.value) for state in DealStatus],
        is_narrowed=any(wanted.values()),
        may_make=calls.may(create_deal),
    )
