"""The switches of a person, and the amount from which a sale is large for the whole brand."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.notifications.preferences import get_notification_preferences, put_notification_preferences
from api.organization.organization import change_organization, get_organization
from domain.notifications.kinds import NotificationKind
from domain.notifications.wording import LABELS
from pages import api_client, form_values, forms, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("notification_settings_page", __name__)

_HERE = "/dashboard/settings/notifications"


def _read_switches() -> Body:
    """Return the switches: those that the form shows are named in `kinds` and `emails`."""
    emails = set(request.form.getlist("emails"))
    return {
        "items": [
            {"kind": kind, "inApp": f"inApp-{kind}" in request.form}
            | ({"email": f"email-{kind}" in request.form} if kind in emails else {})
            for kind in request.form.getlist("kinds")
        ]
    }


def _read_amount() -> Body:
    home = api_client.require(get_organization)["homeCurrency"]
    return {"largeSaleCents": form_values.parse_amount(request.form.get("largeSaleCents", ""), home)}


_FORMS = (
    Form("", put_notification_preferences, _read_switches, done="saved"),
    Form("/large-sales", change_organization, _read_amount, id="sales-", done="saved"),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=(get_notification_preferences, get_organization))
def show_notification_settings(form: FormState | None) -> Response:
    """Show what the person is notified of. Budget: 3 round trips."""
    preferences, home = api_client.require(get_notification_preferences), api_client.require(get_organization)
    is_foreign = preferences["largeSaleCurrency"] != home["homeCurrency"]  # it was set in an earlier home currency
    amount = form_values.format_amount(preferences["largeSaleCents"], preferences["largeSaleCurrency"])
    is_sales = form is not None and form.id == "sales-"
    return screens.render(
        "brand/settings/notifications.html",
        form,
        preferences=preferences,
        labels={kind.value: LABELS[kind] for kind in NotificationKind},
        switches=form if form is not None and not is_sales else _fill_switches(preferences),
        sales=form if is_sales else forms.prefill("sales-", largeSaleCents=None if is_foreign else amount),
        home_currency=home["homeCurrency"],
    )


def _fill_switches(preferences: Mapping[str, Any]) -> FormState:
    switches: dict[str, object] = {}
    for item in preferences["items"]:
        switches[f"inApp-{item['kind']}"] = "on" if item["inApp"] else None
        switches[f"email-{item['kind']}"] = "on" if item["email"] else None
    return forms.prefill("", **switches)
