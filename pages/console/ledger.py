"""The ledger: what the last check of each organization's money found, and a check now."""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.ledger import check_ledger, list_ledger_checks
from pages import api_client, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("ledger_page", __name__)

#: So many organizations are named; those where something is broken come first.
_MOST = 100


def _read_organization() -> Body:
    """Return whose money is to be checked; None is everybody's."""
    return {"organizationId": request.form.get("organizationId") or None}


@form_page(
    blueprint,
    "operator",
    "/console/ledger",
    Form("/check", check_ledger, _read_organization),
    uses=(list_ledger_checks,),
)
def show_ledger(form: FormState | None) -> Response:
    """Show the last checks. Budget: 1 round trip, however many there are."""
    return screens.render("console/ledger.html", form, **_checks())


@blueprint.get("/console/ledger/fragment")
@screen("operator", uses=(list_ledger_checks,))
def show_ledger_part() -> Response:
    """Show the last checks alone. Budget: 1 round trip."""
    return screens.render_part("console/_ledger.html", **_checks())


def _checks() -> dict[str, Any]:
    checks = api_client.require(list_ledger_checks)
    checks.sort(key=lambda check: not check["findings"])
    return {
        "checks": checks[:_MOST],
        "more": max(0, len(checks) - _MOST),
        "red": sum(bool(check["findings"]) for check in checks),
        "checked": len(checks),
    }
