"""The rows of a switch with their verdicts, as a list and as a file."""

from collections.abc import Mapping

from flask import Blueprint, Response

from api.switches.preview import export_switch_rows, list_switch_rows
from api.switches.switches import get_switch
from pages import api_client, screens
from pages.brand.switches import switch_words
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("switch_rows_page", __name__)

_ROWS = RowList(list_switch_rows, ("collection", "verdict", "reason"))
_TARGETS = {
    "affiliate": "/dashboard/affiliates/{}",
    "conversion": "/dashboard/conversions/{}",
    "program": "/dashboard/programs/{}",
}


@blueprint.get("/dashboard/switch/<switch_id>/rows")
@screen("member", uses=(get_switch, list_switch_rows, export_switch_rows))
def show_rows(switch_id: str) -> Response:
    """Show the rows by the filter of the address. Budget: 5 round trips."""
    path = {"switch_id": switch_id}
    switch = api_client.require(get_switch, path=path)
    page = _ROWS.read(path=path)
    # Before everything is judged, and after a cancellation, there is no list.
    has_rows = page.form is None or page.form.status != 409
    return screens.render(
        "brand/switches/rows.html",
        **page.values(),
        status=None if has_rows else 200,
        has_rows=has_rows,
        switch=switch,
        targets=_TARGETS if switch["state"] in ("Completed", "Undoing", "Undone") else {},
        file_address=_ROWS.filtered_address(f"/dashboard/switch/{switch_id}/rows.csv"),
        collections=switch_words.COLLECTIONS,
        verdicts=switch_words.VERDICTS,
        words=switch_words,
        options_of=_list_options,
    )


def _list_options(words: Mapping[str, str]) -> list[tuple[str, str]]:
    return [("", "Any"), *words.items()]


@blueprint.get("/dashboard/switch/<switch_id>/rows.csv")
@screen("member", uses=(export_switch_rows,))
def download_rows(switch_id: str) -> Response:
    """Return the rows of the filter as a CSV file."""
    return api_client.forward_file(export_switch_rows, path={"switch_id": switch_id}, query=_ROWS.filter_query())
