"""Who there is: affiliates with their standing, where they came from, and what they have coming."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates, list_applications
from api.programs.programs import list_programs
from pages import calls, forms, screens
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("affiliates_page", __name__)

_FILTERS = ("q", "status", "programId", "sort", "cursor")


@blueprint.get("/dashboard/affiliates")
@screen("member", uses=(list_affiliates, list_applications, list_programs))
def show_affiliates() -> Response:
    """Show affiliates by the filter in the address, fifty a page. Budget: 5 round trips, however many there are."""
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    answer = calls.call(list_affiliates, query=wanted | {"balances": "true"})
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        said = " ".join(answer.refusal.fields.values()) or answer.refusal.message
        form, page = FormState(alert=said), {"items": [], "nextCursor": None}
    return screens.show(
        "brand/affiliates.html",
        status=answer.status,
        form=form,
        rows=page["items"],
        next_cursor=page["nextCursor"],
        programs=choices.programs(),
        is_narrowed=any(wanted[name] for name in ("q", "status", "programId", "cursor")),
        waiting=len(calls.needed(list_applications)),
    )
