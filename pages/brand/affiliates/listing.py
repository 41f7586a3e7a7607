"""The list of affiliates with their all-time totals: sorted by each, changed in bulk, and the same as a file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates, list_applications
from api.affiliates.decisions import change_affiliates
from api.affiliates.export import export_affiliates
from api.programs.partner_groups import list_partner_groups
from api.programs.programs import list_programs
from pages import api_client, forms, screens
from pages.brand import bulk_changes, choices
from pages.brand.bulk_changes import BulkCounts
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.list_pages import ListView, RowList
from pages.screens import screen

blueprint = Blueprint("affiliates_page", __name__)

_HERE = "/dashboard/affiliates"
_FILTERS = ("q", "status", "programId", "noSalesForDays")
_VIEWS = (
    ListView("All"),
    ListView("Pending", {"status": "Pending"}),
    ListView("Approved", {"status": "Approved"}),
    ListView("Top by revenue", {"status": "Approved", "sort": "-revenue"}),
    ListView("No sales in 90 days", {"status": "Approved", "noSalesForDays": "90", "sort": "lastSale"}),
)
_AFFILIATES = RowList(list_affiliates, _FILTERS, ("sort",), {"totals": "true"}, views=_VIEWS)
_ACTIONS = ("approve", "reject", "pause", "tag", "untag", "group")
_EXPORT = "export"
_UNPROCESSABLE = 422


def _change_selected() -> Response | FormState:
    """Run an action on the selected affiliates, and redirect to the list in its filter with the counts."""
    ids, action = request.form.getlist("ids"), request.form.get("action", "")
    if not ids:
        return _form_with_alert("Select at least one affiliate.")
    body: dict[str, Any] = {"affiliateIds": ids, "action": action}
    if action in ("tag", "untag"):
        body["tag"] = request.form.get("tag", "")
    if action == "group":
        body["partnerGroupId"] = request.form.get("group") or None
    answer = send(change_affiliates, body=body)
    if answer.refusal is not None:
        return _form_with_alert(" ".join(answer.refusal.fields.values()) or answer.refusal.message)
    reasons = Counter(row["reason"] for row in answer.data["skippedAffiliates"])
    counts = BulkCounts(action, answer.data["affected"], sorted(reasons.items()))
    return bulk_changes.redirect_with_counts(_AFFILIATES.filtered_address(_HERE), counts)


@form_page(
    blueprint,
    "member",
    _HERE,
    CustomForm("/bulk", _change_selected, (change_affiliates,)),
    uses=(list_affiliates, list_applications, list_programs, list_partner_groups),
)
def show_affiliates(form: FormState | None) -> Response:
    """Show affiliates by the filter in the address, fifty a page. Budget: 7 round trips, however many there are."""
    page, programs = _AFFILIATES.read(), choices.list_program_choices()
    return screens.render(
        "brand/affiliates.html",
        **page.values(form),
        programs=programs,
        groups=_list_groups(programs) if api_client.is_allowed(change_affiliates) else (),
        waiting=len(api_client.require(list_applications)),
        outcome_counts=bulk_changes.read_counts((*_ACTIONS, _EXPORT)),
        query=_AFFILIATES.filtered_address(""),
        file=_AFFILIATES.filtered_address(f"{_HERE}/export.csv"),
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(export_affiliates,))
def show_affiliates_file() -> Response:
    """Stream the list, or the selected affiliates, as a file; a refused filter redirects to the list."""
    ids = request.args.getlist("ids")
    if not ids and request.args.get("action") == _EXPORT:
        return bulk_changes.redirect_with_counts(_HERE, BulkCounts(_EXPORT, 0))
    chosen = {"affiliateIds": ",".join(ids)} if ids else {}
    return _AFFILIATES.send_file(export_affiliates, back=_AFFILIATES.filtered_address(_HERE), **chosen)


def _list_groups(programs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the id and the name of the partner groups of the program in the filter, or of the only program."""
    program_id = request.args.get("programId") or (programs[0][0] if len(programs) == 1 else "")
    if program_id not in dict(programs):
        return []
    rows: Sequence[Mapping[str, Any]] = api_client.require(list_partner_groups, path={"program_id": program_id})
    return [(row["id"], row["name"]) for row in rows]


def _form_with_alert(alert: str) -> FormState:
    return FormState(forms.form_from_request().values, alert=alert, status=_UNPROCESSABLE)
