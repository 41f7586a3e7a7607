"""The list of deals with their status and escrow."""

from flask import Blueprint, Response

from api.deals.deals import create_deal, list_deals
from api.programs.programs import list_programs
from domain.deals.states import DealStatus
from pages import screens
from pages.brand import choices
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("deals_page", __name__)

_DEALS = RowList(list_deals, ("status", "programId"))
_STATES = [(state.value, state.value) for state in DealStatus]


@blueprint.get("/dashboard/deals")
@screen("member", uses=(create_deal, list_deals, list_programs))
def show_deals() -> Response:
    """Show deals by the filter in the address. Budget: 3 round trips, however many there are."""
    return screens.render(
        "brand/deals.html", **_DEALS.read().values(), programs=choices.list_program_choices(), states=_STATES
    )
