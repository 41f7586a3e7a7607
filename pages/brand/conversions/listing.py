"""The list of conversions with its filters in the address, decisions about selected rows, and the same as a file."""

from flask import Blueprint, Response, request

from api.conversions.conversions import list_conversions
from api.conversions.export import export_conversions
from api.conversions.manual import create_conversion
from api.programs.programs import list_programs
from pages import forms, screens
from pages.brand import bulk_changes, choices
from pages.brand.conversions import decisions
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState
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


def _decide_selected() -> Response | FormState:
    """Decide about each selected conversion, and redirect to the list in its filter with the counts."""
    action = request.form.get("action", "")
    if action not in decisions.OPERATIONS:
        return forms.form_with_errors({}, "Choose what to do.")
    body = {"reason": request.form.get("reason", "").strip() or None}
    counts = bulk_changes.decide_each(
        action, decisions.OPERATIONS[action], rows="conversions", parameter="conversion_id", body=body
    )
    if isinstance(counts, FormState):
        return counts
    return bulk_changes.redirect_with_counts(_CONVERSIONS.filtered_address(_HERE), counts)


@form_page(
    blueprint,
    "member",
    _HERE,
    CustomForm("/bulk", _decide_selected, tuple(decisions.OPERATIONS.values())),
    uses=(create_conversion, list_conversions, list_programs),
)
def show_conversions(form: FormState | None) -> Response:
    """Show conversions by the filter in the address, fifty a page. Budget: 2 round trips, however many there are."""
    page = _CONVERSIONS.read()
    return screens.render(
        "brand/conversions/desk.html",
        **page.values(form),
        filter_form=page.form or forms.form_from_query(),
        acts_by_id={row["id"]: decisions.list_decisions(row) for row in page.rows},
        programs=choices.list_program_choices(),
        query=_CONVERSIONS.filtered_address(""),
        outcome_counts=bulk_changes.read_counts(tuple(decisions.OPERATIONS)),
        file=_CONVERSIONS.filtered_address(f"{_HERE}/export.csv"),
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(export_conversions,))
def show_file() -> Response:
    """Stream the list as a file; a refused filter redirects to the list, which shows the error."""
    return _CONVERSIONS.send_file(export_conversions, back=_CONVERSIONS.filtered_address(_HERE))
