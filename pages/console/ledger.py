"""The ledger: what the last check of each organization's money found, and a check now."""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.ledger import check_ledger, list_ledger_checks
from pages import calls, forms, fragments, screens
from pages.screens import screen

blueprint = Blueprint("ledger_page", __name__)

_LEDGER = "/console/ledger"
#: So many organizations are named; those where something is broken come first.
_MOST = 100


@blueprint.get("/console/ledger")
@screen("operator", uses=(list_ledger_checks, check_ledger))
def show_ledger() -> Response:
    """Show the last checks. Budget: 1 round trip, however many there are."""
    return screens.show("console/ledger.html", **_checks())


@blueprint.get("/console/ledger/fragment")
@screen("operator", uses=(list_ledger_checks,))
def show_ledger_part() -> Response:
    """Show the last checks alone. Budget: 1 round trip."""
    return fragments.show("console/_ledger.html", **_checks())


@blueprint.post("/console/ledger/check")
@screen("operator", uses=(check_ledger,))
def send_check() -> Response:
    """Ask for a check of one organization's money, or of everybody's."""
    organization_id = request.form.get("organizationId") or None
    calls.tried(check_ledger, body={"organizationId": organization_id}, key=forms.key())
    return screens.sent_on(_LEDGER)


def _checks() -> dict[str, Any]:
    found = calls.needed(list_ledger_checks)
    found.sort(key=lambda check: not check["findings"])
    return {
        "checks": found[:_MOST],
        "more": max(0, len(found) - _MOST),
        "red": sum(bool(check["findings"]) for check in found),
        "checked": len(found),
    }
