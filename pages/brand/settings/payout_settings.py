"""When commissions are payable, how payouts are prepared, and the home currency."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.organization.home_currency import get_home_currency, put_home_currency
from api.organization.organization import change_organization, get_organization
from pages import api_client, form_values, forms, screens
from pages.brand.settings import changes
from pages.form_pages import CustomForm, Form, form_page, read_texts
from pages.forms import FormState

blueprint = Blueprint("payout_settings_page", __name__)

_HERE = "/dashboard/settings/payouts"
_CHOICES = ("payoutGraceDays", "automaticPayoutCadence", "commissionBasis", "selfReferrals")
_CURRENCY_FORM = "currency-"


def _change_payouts() -> Response | FormState:
    """Change when commissions are payable, and the automatic payouts."""
    home = api_client.require(get_organization)["homeCurrency"]
    values = {
        "payoutGraceDays": form_values.parse_number(request.form.get("payoutGraceDays", "")),
        "minPayoutCents": form_values.parse_amount(request.form.get("minPayoutCents", ""), home),
        "automaticPayoutCadence": request.form.get("automaticPayoutCadence", ""),
        "automaticPayoutEnabled": "automaticPayoutEnabled" in request.form,
        "commissionBasis": request.form.get("commissionBasis", ""),
        "selfReferrals": request.form.get("selfReferrals", ""),
    }
    return changes.send_changes(values, to=f"{_HERE}?done=saved")


_FORMS = (
    CustomForm("", _change_payouts, (change_organization,)),
    Form("/currency", put_home_currency, read_texts("homeCurrency"), id=_CURRENCY_FORM, done="saved"),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=(get_organization, get_home_currency), restores=True)
def show_payout_settings(form: FormState | None) -> Response:
    """Show the settings of payouts. Budget: 2 round trips."""
    organization, currency = api_client.require(get_organization), api_client.require(get_home_currency)
    is_about_currency = form is not None and form.id == _CURRENCY_FORM
    stored_currency = forms.prefill(_CURRENCY_FORM, homeCurrency=organization["homeCurrency"])
    return screens.render(
        "brand/settings/payouts.html",
        form,
        organization=organization,
        payouts=form if form and not is_about_currency else _prefill_payouts(organization),
        currency=form if form and is_about_currency else stored_currency,
        currencies=[(code, code) for code in currency["supportedCurrencies"]],
    )


def _prefill_payouts(organization: Mapping[str, Any]) -> FormState:
    """Return the form with the stored values."""
    return forms.prefill(
        **{name: organization[name] for name in _CHOICES},
        minPayoutCents=form_values.format_amount(organization["minPayoutCents"], organization["minPayoutCurrency"]),
        automaticPayoutEnabled="on" if organization["automaticPayoutEnabled"] else None,
    )
