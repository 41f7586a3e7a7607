"""The settings: the brand's profile, its payouts, the parameters that its pages track, its team.

Each card is a form of its own and sends only changed values: those about money require a fresh login.
"""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, request

from api.clicks.attribution_params import change_attribution_params
from api.embed.tokens import create_embed_token
from api.organization.home_currency import get_home_currency, put_home_currency
from api.organization.members import list_members, revoke_member_sessions
from api.organization.organization import change_organization, delete_logo, get_organization, put_logo
from pages import api_client, form_values, forms, screens
from pages.form_pages import Body, CustomForm, Form, form_page, read_texts, send_form
from pages.forms import FormState

blueprint = Blueprint("settings_page", __name__)

_HERE = "/dashboard/settings"
_READS = (get_organization, get_home_currency, list_members, create_embed_token)
_MAX_LOGO_BYTES = 1_100_000
_PAYOUT_CHOICES = ("payoutGraceDays", "automaticPayoutCadence", "commissionBasis", "selfReferrals")
_TEXTS = ("description", "billingEmail", "industryCategory", "primaryBrandColor")


def _change_profile() -> Response | FormState:
    """Change the brand's profile."""
    values: dict[str, Any] = {name: request.form.get(name, "").strip() or None for name in _TEXTS}
    values |= {name: request.form.get(name, "").strip() for name in ("name", "timezone")}
    if subdomain := request.form.get("subdomain", "").strip():
        values["subdomain"] = subdomain
    return _send_changes("profile", values)


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
    return _send_changes("payouts", values)


def _send_changes(card: str, values: Body) -> Response | FormState:
    """Send the values that differ from the stored ones."""
    organization = api_client.require(get_organization)
    body = {name: value for name, value in values.items() if value != organization[name]}
    to = f"{_HERE}?done={card}"
    return send_form(change_organization, body=body, to=to, form_id=f"{card}-") if body else screens.redirect(to)


def _read_parameters() -> Body:
    """Return the brand's own parameters that its pages track."""
    return {"custom": request.form.get("custom", "").strip() or None}


def _read_logo() -> Body | FormState:
    content = forms.read_file("logo", _MAX_LOGO_BYTES)
    if not content:
        return FormState(errors={"logo": "Choose an image."}, id="logo-", status=422)
    return {"dataBase64": base64.b64encode(content).decode()}


_FORMS = (
    CustomForm("/profile", _change_profile, (change_organization,)),
    CustomForm("/payouts", _change_payouts, (change_organization,)),
    Form("/currency", put_home_currency, read_texts("homeCurrency"), id="currency-", done="currency"),
    Form("/attribution", change_attribution_params, _read_parameters, id="attribution-", done="attribution"),
    Form("/logo", put_logo, _read_logo, id="logo-", done="logo", max_bytes=_MAX_LOGO_BYTES),
    Form("/logo/delete", delete_logo, id="logo-", done="logo"),
    Form("/team/<member_id>", revoke_member_sessions, id="team-", done="team"),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=_READS, restores=True)
def show_settings(form: FormState | None) -> Response:
    """Show the settings. Budget: 4 round trips."""
    organization, currency = api_client.require(get_organization), api_client.require(get_home_currency)
    if form and not form.id:  # restored after a fresh login, which only this card requires
        form = replace(form, id="payouts-")
    return screens.render(
        "brand/settings/settings.html",
        form,
        holds=organization,
        cards=_fill_cards(organization) | ({form.id.rstrip("-"): form} if form else {}),
        logo=urlsplit(organization["logoUrl"]).path if organization["logoUrl"] else None,
        currencies=[(code, code) for code in currency["supportedCurrencies"]],
        team=api_client.require(list_members) if api_client.is_allowed(list_members) else None,
    )


def _fill_cards(holds: Mapping[str, Any]) -> dict[str, FormState]:
    """Return each card's form with the stored values."""
    profile = {name: holds[name] for name in ("name", "timezone", "subdomain", *_TEXTS)}
    pays = {name: holds[name] for name in _PAYOUT_CHOICES}
    minimum = form_values.format_amount(holds["minPayoutCents"], holds["minPayoutCurrency"])
    is_automatic = "on" if holds["automaticPayoutEnabled"] else None
    return {
        "profile": forms.prefill("profile-", **profile),
        "payouts": forms.prefill("payouts-", **pays, minPayoutCents=minimum, automaticPayoutEnabled=is_automatic),
        "currency": forms.prefill("currency-", homeCurrency=holds["homeCurrency"]),
        "attribution": forms.prefill("attribution-", custom=holds["customAttributionParams"]),
        "logo": forms.prefill("logo-"),
    }
