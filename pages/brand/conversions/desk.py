"""What was sold and whom it credits: the list with its filters in the address, and the same as a file."""

from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.conversions.conversions import list_conversions
from api.conversions.export import export_conversions
from api.conversions.manual import create_conversion
from api.programs.programs import list_programs
from domain.refused import Refused
from pages import calls, forms, screens
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen
from pages.times import entered

blueprint = Blueprint("conversions_page", __name__)

_HERE = "/dashboard/conversions"
_FILTERS = ("q", "status", "programId", "affiliateId", "kind", "subId", "since", "until")
_PER_PAGE = 50


@blueprint.get(_HERE)
@screen("member", uses=(list_conversions, list_programs))
def show_conversions() -> Response:
    """Show conversions by the filter in the address, fifty a page. Budget: 2 round trips, however many there are."""
    wanted = _wanted()
    answer = calls.call(list_conversions, query=wanted | {"cursor": request.args.get("cursor"), "take": _PER_PAGE})
    form, page = forms.asked(), answer.data
    if answer.refusal is not None:
        form, page = _refused(answer.refusal), {"items": [], "nextCursor": None}
    return screens.show(
        "brand/conversions/desk.html",
        status=answer.status,
        form=form,
        rows=page["items"],
        next_cursor=page["nextCursor"],
        programs=choices.programs(),
        is_narrowed=any(wanted[name] for name in _FILTERS) or "cursor" in request.args,
        may_record=calls.may(create_conversion),
        file=_address(f"{_HERE}/export.csv"),
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(export_conversions,))
def show_file() -> Response:
    """Give the list as a file, in pieces; a filter that says nothing sensible is mended on the list."""
    try:
        return calls.passed_on(export_conversions, query=_wanted())
    except Refused as refused:
        if refused.status != 400:
            raise
        return screens.sent_on(_address(_HERE))


def _wanted() -> dict[str, str | None]:
    """Return the query of the API: days are read in the zone of the page; an empty field asks for nothing."""
    asked = _asked()
    return asked | {name: entered.day_start(asked[name]) for name in ("since", "until")}


def _asked() -> dict[str, str | None]:
    """Return the filter as it stands in the address."""
    return {name: request.args.get(name, "").strip() or None for name in (*_FILTERS, "sort")}


def _address(path: str) -> str:
    wanted = {name: value for name, value in _asked().items() if value}
    return f"{path}?{urlencode(wanted)}" if wanted else path


def _refused(refusal: calls.CallRefusal) -> FormState:
    """Return the filter with what is wrong with it; a place in the list is no field of it."""
    errors = {name: said for name, said in refusal.fields.items() if name != "cursor"}
    alert = refusal.fields.get("cursor") or (None if errors else refusal.message)
    return FormState(forms.asked().values, errors, alert)
