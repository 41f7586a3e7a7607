"""What an affiliate earned: each conversion with its share, the state of its money, its day and why. Also as a file."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.me.earnings import export_own_conversions, list_own_conversions
from api.me.person import list_own_programs
from pages import calls, forms
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_earnings_page", __name__)

_FILTERS = ("status", "programId")
_USES = (*frame.USES, list_own_conversions, export_own_conversions, list_own_programs)


@blueprint.get("/portal/earnings")
@screen("account", uses=_USES)
def show_earnings() -> Response:
    """Show earnings by the filter in the address, fifty a page; with `as=csv` all of them as a file.

    Budget: 3 round trips, however many there are.
    """
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    if request.args.get("as") == "csv":
        return _file(wanted)
    answer = calls.call(list_own_conversions, query=wanted | {"cursor": request.args.get("cursor") or None})
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        said = " ".join(answer.refusal.fields.values()) or answer.refusal.message
        form, page = FormState(alert=said), {"items": [], "nextCursor": None}
    programs = calls.needed(list_own_programs)
    return frame.show(
        "earnings.html",
        status=answer.status,
        form=form,
        rows=page["items"],
        next_cursor=page["nextCursor"],
        programs=[(one["programId"], f"{one['name']}, {one['organizationName']}") for one in programs],
        is_narrowed=any(wanted.values()) or bool(request.args.get("cursor")),
        csv=urlencode({name: value for name, value in (wanted | {"as": "csv"}).items() if value}),
    )


def _file(wanted: dict[str, str | None]) -> Response:
    rows = calls.needed(export_own_conversions, query=wanted)
    headers = {
        "Content-Disposition": 'attachment; filename="earnings.csv"',
        "Cache-Control": "no-store",
        "Vary": "Cookie",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(rows, content_type="text/csv; charset=utf-8", headers=headers)
