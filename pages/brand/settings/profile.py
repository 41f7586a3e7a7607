"""The settings: who the brand is, how it pays, what its pages look for, its team.

Each card is a form of its own, and only what was changed is sent: what is about money wants a fresh login.
"""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, request

from api.clicks.attribution_params import change_attribution_params
from api.embed.tokens import create_embed_token
from api.organization.home_currency import get_home_currency, put_home_currency
from api.organization.members import list_members, revoke_member_sessions
from api.organization.organization import change_organization, delete_logo, get_organization, put_logo
from pages import calls, forms, kept, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("settings_page", __name__)

_HERE = "/dashboard/settings"
_SHOWS = (get_organization, get_home_currency, list_members)
_MAY = (
    change_organization,
    change_attribution_params,
    put_home_currency,
    put_logo,
    delete_logo,
    revoke_member_sessions,
    create_embed_token,
)
_USES = (*_SHOWS, *_MAY)
_MOST_BYTES = 1_100_000
_PAYOUT_CHOICES = ("payoutGraceDays", "automaticPayoutCadence", "commissionBasis", "selfReferrals")
_TEXTS = ("description", "billingEmail", "industryCategory", "primaryBrandColor")
_DONE = ("profile", "payouts", "currency", "attribution", "logo", "team")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_settings() -> Response:
    """Show the settings. Budget: 4 round trips."""
    return _page()


@blueprint.post(f"{_HERE}/profile")
@screen("member", uses=_USES)
def send_profile() -> Response:
    """Change who the brand is."""
    wanted: dict[str, Any] = {name: request.form.get(name, "").strip() or None for name in _TEXTS}
    wanted |= {name: request.form.get(name, "").strip() for name in ("name", "timezone")}
    if subdomain := request.form.get("subdomain", "").strip():
        wanted["subdomain"] = subdomain
    return _changed("profile", wanted)


@blueprint.post(f"{_HERE}/payouts")
@screen("member", uses=_USES)
def send_payout_settings() -> Response:
    """Change when money is payable, and when it leaves by itself."""
    home = calls.needed(get_organization)["homeCurrency"]
    wanted = {
        "payoutGraceDays": typed.number(request.form.get("payoutGraceDays", "")),
        "minPayoutCents": typed.minor(request.form.get("minPayoutCents", ""), home),
        "automaticPayoutCadence": request.form.get("automaticPayoutCadence", ""),
        "automaticPayoutEnabled": "automaticPayoutEnabled" in request.form,
        "commissionBasis": request.form.get("commissionBasis", ""),
        "selfReferrals": request.form.get("selfReferrals", ""),
    }
    return _changed("payouts", wanted)


@blueprint.post(f"{_HERE}/currency")
@screen("member", uses=_USES)
def send_home_currency() -> Response:
    """Change the currency that the brand thinks in."""
    body = {"homeCurrency": request.form.get("homeCurrency", "")}
    return _after("currency", calls.tried(put_home_currency, body=body, key=forms.key()))


@blueprint.post(f"{_HERE}/attribution")
@screen("member", uses=_USES)
def send_attribution_params() -> Response:
    """Change which parameters of the brand's own its pages look for."""
    body = {"custom": request.form.get("custom", "").strip() or None}
    return _after("attribution", calls.tried(change_attribution_params, body=body, key=forms.key()))


@blueprint.post(f"{_HERE}/logo")
@screen("member", uses=_USES, most_bytes=_MOST_BYTES)
def send_logo() -> Response:
    """Keep a logo."""
    file = request.files.get("logo")
    content = file.read() if file else b""
    if not content:
        return _page(FormState(errors={"logo": "Choose an image."}, id="logo-"), status=422)
    body = {"dataBase64": base64.b64encode(content).decode()}
    return _after("logo", calls.tried(put_logo, body=body, key=forms.key()))


@blueprint.post(f"{_HERE}/logo/delete")
@screen("member", uses=_USES)
def send_logo_away() -> Response:
    """Take the logo away."""
    return _after("logo", calls.tried(delete_logo))


@blueprint.post(f"{_HERE}/team/<member_id>")
@screen("member", uses=_USES)
def send_sign_out_of(member_id: str) -> Response:
    """End the sessions of somebody of the team."""
    answer = calls.tried(revoke_member_sessions, path={"member_id": member_id}, key=forms.key())
    return _after("team", answer)


def _changed(card: str, wanted: Mapping[str, Any]) -> Response:
    holds = calls.needed(get_organization)
    body = {name: value for name, value in wanted.items() if value != holds[name]}
    if not body:
        return screens.sent_on(f"{_HERE}?done={card}")
    return _after(card, calls.tried(change_organization, body=body, key=forms.key()))


def _after(card: str, answer: calls.CallAnswer) -> Response:
    if answer.refusal is None:
        return screens.sent_on(f"{_HERE}?done={card}")
    return _page(forms.refused(answer.refusal, form_id=f"{card}-"), status=answer.status)


def _page(form: FormState | None = None, *, status: int = 200) -> Response:
    holds, currency = calls.needed(get_organization), calls.needed(get_home_currency)
    waiting = kept.form()
    if form is None and waiting is not None:
        form = FormState(waiting.values, id="payouts-")
    cards = _cards(holds)
    if form is not None:
        cards[form.id.rstrip("-")] = form
    done = request.args.get("done")
    return screens.show(
        "brand/settings/settings.html",
        status=status,
        form=form or forms.EMPTY,
        here=_HERE,
        holds=holds,
        cards=cards,
        done=done if done in _DONE else None,
        logo=urlsplit(holds["logoUrl"]).path if holds["logoUrl"] else None,
        currencies=[(code, code) for code in currency["supportedCurrencies"]],
        team=calls.needed(list_members) if calls.may(list_members) else None,
        can={one.__name__: calls.may(one) for one in _MAY},
    )


def _cards(holds: Mapping[str, Any]) -> dict[str, FormState]:
    """Return each card's form as things are."""
    told = {name: holds[name] for name in ("name", "timezone", "subdomain", *_TEXTS)}
    pays = {name: holds[name] for name in _PAYOUT_CHOICES}
    minimum = typed.major(holds["minPayoutCents"], holds["minPayoutCurrency"])
    is_automatic = "on" if holds["automaticPayoutEnabled"] else None
    return {
        "profile": forms.blank("profile-", **told),
        "payouts": forms.blank("payouts-", **pays, minPayoutCents=minimum, automaticPayoutEnabled=is_automatic),
        "currency": forms.blank("currency-", homeCurrency=holds["homeCurrency"]),
        "attribution": forms.blank("attribution-", custom=holds["customAttributionParams"]),
        "logo": forms.blank("logo-"),
    }
