"""Search at the dashboard, grouped by kind; the id of a record leads to its page."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.search import search_records
from pages import api_client, screens
from pages.forms import FormState
from pages.list_pages import read_filter
from pages.screens import screen

blueprint = Blueprint("search_page", __name__)

# The page of a record of each kind; a code has none of its own, so its affiliate's page is shown.
_PAGES = {
    "affiliates": "/dashboard/affiliates/{id}",
    "conversions": "/dashboard/conversions/{id}",
    "payouts": "/dashboard/payouts/{id}",
    "codes": "/dashboard/affiliates/{affiliateId}",
}


@blueprint.get("/dashboard/search")
@screen("member", uses=(search_records,))
def show_search() -> Response:
    """Show the records that match the text in the address. Budget: 1 round trip."""
    if read_filter("q") is None:
        return screens.render("brand/search.html", results=None)
    answer = api_client.call(search_records, query={"q": read_filter("q")})
    if answer.refusal is not None:
        alert = " ".join(answer.refusal.fields.values()) or answer.refusal.message
        return screens.render("brand/search.html", FormState(alert=alert, status=answer.status), results=None)
    exact = _find_exact(answer.data)
    return screens.redirect(exact) if exact else screens.render("brand/search.html", results=answer.data)


def _find_exact(results: Mapping[str, Any]) -> str | None:
    """Return the page of the record whose id was searched, None without one."""
    pages = [_PAGES[kind].format_map(row) for kind in _PAGES for row in results[kind] if row["isExact"]]
    return pages[0] if pages else None
