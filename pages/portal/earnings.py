"""The earnings of an affiliate: each conversion with its commission, state, day and reason. Also as a file."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.me.earnings import export_own_conversions, list_own_conversions
from api.me.person import list_own_programs
from pages import api_client
from pages.list_pages import RowList, read_filter
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_earnings_page", __name__)

_EARNINGS = RowList(list_own_conversions, ("status", "programId"))
_USES = (*frame.USES, list_own_conversions, export_own_conversions, list_own_programs)


@blueprint.get("/portal/earnings")
@screen("account", uses=_USES)
def show_earnings() -> Response:
    """Show earnings by the filter in the address, fifty a page; with `as=csv` all of them as a file.

    Budget: 3 round trips, however many there are.
    """
    filters = {name: read_filter(name) for name in _EARNINGS.filters}
    if request.args.get("as") == "csv":
        return _render_file(filters)
    return frame.render(
        "earnings.html",
        **_EARNINGS.read().values(),
        programs=frame.name_programs(api_client.require(list_own_programs)),
        csv=urlencode({name: value for name, value in (filters | {"as": "csv"}).items() if value}),
    )


def _render_file(filters: dict[str, str | None]) -> Response:
    rows = api_client.require(export_own_conversions, query=filters)
    headers = {
        "Content-Disposition": 'attachment; filename="earnings.csv"',
        "Cache-Control": "no-store",
        "Vary": "Cookie",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(rows, content_type="text/csv; charset=utf-8", headers=headers)
