"""The list of affiliates with their status, source and open balance."""

from flask import Blueprint, Response

from api.affiliates.affiliates import list_affiliates, list_applications
from api.programs.programs import list_programs
from pages import api_client, screens
from pages.brand import choices
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("affiliates_page", __name__)

_AFFILIATES = RowList(list_affiliates, ("q", "status", "programId"), ("sort",), {"balances": "true"})


@blueprint.get("/dashboard/affiliates")
@screen("member", uses=(list_affiliates, list_applications, list_programs))
def show_affiliates() -> Response:
    """Show affiliates by the filter in the address, fifty a page. Budget: 5 round trips, however many there are."""
    return screens.render(
        "brand/affiliates.html",
        **_AFFILIATES.read().values(),
        programs=choices.list_program_choices(),
        waiting=len(api_client.require(list_applications)),
    )
