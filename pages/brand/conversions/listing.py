"""The list of conversions with its filters in the address, and the same as a file."""

from flask import Blueprint, Response

from api.conversions.conversions import list_conversions
from api.conversions.export import export_conversions
from api.conversions.manual import create_conversion
from api.programs.programs import list_programs
from pages import forms, screens
from pages.brand import choices
from pages.list_pages import ListView, RowList
from pages.screens import screen

blueprint = Blueprint("conversions_page", __name__)

_HERE = "/dashboard/conversions"
_FILTERS = ("q", "status", "programId", "affiliateId", "kind", "subId", "since", "until")
_VIEWS = (
    ListView("All"),
    ListView("Pending", {"status": "Pending"}),
    ListView("Payable next", {"status": "Pending", "sort": "payable"}),
    ListView("Sales", {"kind": "sale"}),
    ListView("Leads", {"kind": "lead"}),
    ListView("Refunded", {"status": "Refunded"}),
)
_CONVERSIONS = RowList(
    list_conversions, _FILTERS, ("sort",), {"take": 50}, days=("since", "until"), marks_fields=True, views=_VIEWS
)


@blueprint.get(_HERE)
@screen("member", uses=(create_conversion, list_conversions, list_programs))
def show_conversions() -> Response:
    """Show conversions by the filter in the address, fifty a page. Budget: 2 round trips, however many there are."""
    return screens.render(
        "brand/conversions/desk.html",
        **_CONVERSIONS.read().values(forms.form_from_query()),
        programs=choices.list_program_choices(),
        file=_CONVERSIONS.filtered_address(f"{_HERE}/export.csv"),
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(export_conversions,))
def show_file() -> Response:
    """Stream the list as a file; a refused filter redirects to the list, which shows the error."""
    return _CONVERSIONS.send_file(export_conversions, back=_CONVERSIONS.filtered_address(_HERE))
