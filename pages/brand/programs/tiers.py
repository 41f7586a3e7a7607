"""Performance tiers of a program: rates that grow with an affiliate's sales. They are replaced as a whole."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api.organization.organization import get_organization
from api.programs.performance_tiers import list_performance_tiers, put_performance_tiers
from api.programs.programs import get_program
from pages import api_client, form_values, forms, screens
from pages.form_pages import CustomForm, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("performance_tiers_page", __name__)

_MAX_TIERS = 20
_EMPTY_ROWS = 2
_PARTS = {"minRevenueCents": "from", "commissionType": "type", "commissionValue": "value"}


def _put_tiers(program_id: str) -> Response | FormState:
    """Set the tiers; rows without a revenue and a rate are left out."""
    home = api_client.require(get_organization)["homeCurrency"]
    rows = _read_row_numbers()
    names = {
        f"tiers.{place}.{name}": f"{part}-{row}" for place, row in enumerate(rows) for name, part in _PARTS.items()
    }
    return send_form(
        put_performance_tiers,
        path={"program_id": program_id},
        body={"tiers": [_read_tier(row, home) for row in rows]},
        to="/dashboard/programs/{program_id}/tiers",
        names=names,
    )


def _read_row_numbers() -> list[int]:
    return [row for row in range(_MAX_TIERS) if request.form.get(f"from-{row}") or request.form.get(f"value-{row}")]


def _read_tier(row: int, home: str) -> dict[str, Any]:
    fields = request.form
    return {
        "minRevenueCents": form_values.parse_amount(fields.get(f"from-{row}", ""), home),
        "commissionType": fields.get(f"type-{row}", ""),
        "commissionValue": form_values.parse_number(fields.get(f"value-{row}", "")),
    }


def _fill_tiers(tiers: Sequence[Mapping[str, Any]], home: str) -> FormState:
    """Return the form of the tiers; a tier in a former home currency needs its revenue typed again."""
    values: dict[str, object] = {}
    for row, tier in enumerate(tiers):
        values[f"from-{row}"] = (
            form_values.format_amount(tier["minRevenueCents"], home) if tier["currency"] == home else None
        )
        values[f"type-{row}"] = tier["commissionType"]
        values[f"value-{row}"] = tier["commissionValue"]
    return forms.prefill("", **values)


@form_page(
    blueprint,
    "member",
    "/dashboard/programs/<program_id>/tiers",
    CustomForm("", _put_tiers, (put_performance_tiers,)),
    uses=(get_program, get_organization, list_performance_tiers),
)
def show_tiers(form: FormState | None, program_id: str) -> Response:
    """Show the tiers. Budget: 4 round trips."""
    path = {"program_id": program_id}
    program = api_client.require(get_program, path=path)
    tiers = api_client.require(list_performance_tiers, path=path)
    home = api_client.require(get_organization)["homeCurrency"]
    rows = max(_read_row_numbers(), default=0) + 1 if form else len(tiers) + _EMPTY_ROWS
    return screens.render(
        "brand/programs/tiers.html",
        form or _fill_tiers(tiers, home),
        rows=min(rows, _MAX_TIERS),
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        tiers=tiers,
        home=home,
        can_change=api_client.is_allowed(put_performance_tiers) and not program["archivedAt"],
    )
