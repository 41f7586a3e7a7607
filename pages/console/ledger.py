"""The ledger: the result of each organization's last check, and a form to check now."""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.ledger import check_ledger, list_ledger_checks
from pages import api_client, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("ledger_page", __name__)

# The maximum number of organizations on the page; those with findings come first.
_MAX_CHECKS = 100


def _read_organization() -> Body:
    """Return the organization to check; None means all."""
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
    return screens.render("console/ledger.html", form, **_check_values())


@blueprint.get("/console/ledger/fragment")
@screen("operator", uses=(list_ledger_checks,))
def show_ledger_part() -> Response:
    """Return the fragment with the last checks. Budget: 1 round trip."""
    return screens.render_part("console/_ledger.html", **_check_values())


def _check_values() -> dict[str, Any]:
    checks = api_client.require(list_ledger_checks)
    checks.sort(key=lambda check: not check["findings"])
    return {
        "checks": checks[:_MAX_CHECKS],
        "more": max(0, len(checks) - _MAX_CHECKS),
        "red": sum(bool(check["findings"]) for check in checks),
        "checked": len(checks),
    }
