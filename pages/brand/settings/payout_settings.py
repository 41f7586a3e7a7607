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
    organization = api_client.require(get_organization)
    typed, is_foreign = request.form.get("minPayoutCents", "").strip(), _has_foreign_minimum(organization)
    minimum = form_values.parse_amount(typed, organization["homeCurrency"])
    values = {
        "payoutGraceDays": form_values.parse_number(request.form.get("payoutGraceDays", "")),
        "minPayoutCents": organization["minPayoutCents"] if is_foreign and not typed else minimum,
        "automaticPayoutCadence": request.form.get("automaticPayoutCadence", ""),
        "automaticPayoutEnabled": "automaticPayoutEnabled" in request.form,
        "commissionBasis": request.form.get("commissionBasis", ""),
        "selfReferrals": request.form.get("selfReferrals", ""),
    }
    always = ("minPayoutCents",) if is_foreign and typed else ()
    return changes.send_changes(values, to=f"{_HERE}?done=saved", always=always)


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


def _has_foreign_minimum(organization: Mapping[str, Any]) -> bool:
    """Return whether the minimum payout is of an earlier home currency, which it keeps until another one is typed."""
    return organization["minPayoutCurrency"] not in (None, organization["homeCurrency"])


def _prefill_payouts(organization: Mapping[str, Any]) -> FormState:
    """Return the form with the stored values; a minimum in another currency is not typed into the field."""
    minimum = form_values.format_amount(organization["minPayoutCents"], organization["minPayoutCurrency"])
    return forms.prefill(
        **{name: organization[name] for name in _CHOICES},
        minPayoutCents=None if _has_foreign_minimum(organization) else minimum,
        automaticPayoutEnabled="on" if organization["automaticPayoutEnabled"] else None,
    )
