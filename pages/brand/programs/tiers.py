"""Performance tiers of a program: rates that grow with what an affiliate has sold. They are set as a whole."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api.organization.organization import get_organization
from api.programs.performance_tiers import list_performance_tiers, put_performance_tiers
from api.programs.programs import get_program
from pages import calls, forms, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("performance_tiers_page", __name__)

_PAGE = "/dashboard/programs/<program_id>/tiers"
_MOST = 20
_EMPTY_ROWS = 2
_PARTS = {"minRevenueCents": "from", "commissionType": "type", "commissionValue": "value"}


@blueprint.get(_PAGE)
@screen("member", uses=(get_program, get_organization, list_performance_tiers))
def show_tiers(program_id: str) -> Response:
    """Show the tiers. Budget: 7 round trips."""
    tiers = calls.needed(list_performance_tiers, path={"program_id": program_id})
    home = calls.needed(get_organization)["homeCurrency"]
    return _show(program_id, _as_they_are(tiers, home), len(tiers) + _EMPTY_ROWS)


@blueprint.post(_PAGE)
@screen("member", uses=(get_program, get_organization, list_performance_tiers, put_performance_tiers))
def set_tiers(program_id: str) -> Response:
    """Set the tiers: rows without a revenue and a rate are none."""
    path = {"program_id": program_id}
    home = calls.needed(get_organization)["homeCurrency"]
    rows = [row for row in range(_MOST) if request.form.get(f"from-{row}") or request.form.get(f"value-{row}")]
    tiers = [_typed(row, home) for row in rows]
    answer = calls.tried(put_performance_tiers, path=path, body={"tiers": tiers}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"/dashboard/programs/{program_id}/tiers")
    names = {
        f"tiers.{place}.{name}": f"{part}-{row}" for place, row in enumerate(rows) for name, part in _PARTS.items()
    }
    return _show(program_id, forms.refused(answer.refusal, names), max(rows, default=0) + 1, answer.status)


def _typed(row: int, home: str) -> dict[str, Any]:
    sent = request.form
    return {
        "minRevenueCents": typed.minor(sent.get(f"from-{row}", ""), home),
        "commissionType": sent.get(f"type-{row}", ""),
        "commissionValue": typed.number(sent.get(f"value-{row}", "")),
    }


def _as_they_are(tiers: Sequence[Mapping[str, Any]], home: str) -> FormState:
    """Return the tiers to be changed; one in a former home currency wants its revenue anew."""
    shown: dict[str, object] = {}
    for row, tier in enumerate(tiers):
        shown[f"from-{row}"] = typed.major(tier["minRevenueCents"], home) if tier["currency"] == home else None
        shown[f"type-{row}"] = tier["commissionType"]
        shown[f"value-{row}"] = tier["commissionValue"]
    return forms.blank("", **shown)


def _show(program_id: str, form: FormState, rows: int, status: int = 200) -> Response:
    path = {"program_id": program_id}
    program = calls.needed(get_program, path=path)
    return screens.show(
        "brand/programs/tiers.html",
        status=status,
        form=form,
        rows=min(rows, _MOST),
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        tiers=calls.needed(list_performance_tiers, path=path),
        home=calls.needed(get_organization)["homeCurrency"],
        can_change=calls.may(put_performance_tiers) and not program["archivedAt"],
    )
