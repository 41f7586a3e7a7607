"""Connecting a gateway or a platform: it is asked first, and what is left to do there is said in steps."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api.gateways.connections import connect_gateway, list_gateways
from api.platforms import connect_platform, list_platforms
from domain.refused import not_found
from pages import calls, forms, screens
from pages.calls import View
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("connecting_page", __name__)

_NEW = "/dashboard/connections/new"
_GATEWAYS = (connect_gateway, list_gateways)
_PLATFORMS = (connect_platform, list_platforms)


@blueprint.get(f"{_NEW}/gateway/<gateway>")
@screen("member", uses=_GATEWAYS)
def ask_for_gateway(gateway: str) -> Response:
    """Show what a gateway needs. Costs no round trip beside the session's."""
    return _asked(_of(list_gateways, gateway), "gateway", forms.blank(mode="live"))


@blueprint.post(f"{_NEW}/gateway/<gateway>")
@screen("member", uses=_GATEWAYS)
def join_gateway(gateway: str) -> Response:
    """Connect a gateway and show what is left to do there, once."""
    offer = _of(list_gateways, gateway)
    body = {"gateway": offer["name"], "mode": request.form.get("mode", "live"), "credentials": credentials(offer)}
    answer = calls.tried(connect_gateway, body=body, key=forms.key())
    if answer.refusal:
        return _asked(offer, "gateway", refused(answer.refusal, offer), answer.status)
    return screens.show("brand/connection_setup.html", offer=offer, connection=answer.data, setup=answer.data["setup"])


@blueprint.get(f"{_NEW}/platform/<platform>")
@screen("member", uses=_PLATFORMS)
def ask_for_platform(platform: str) -> Response:
    """Show what a platform needs. Costs no round trip beside the session's."""
    offer = _of(list_platforms, platform)
    return _asked(offer, "platform", forms.blank(slugField=offer["slugField"]))


@blueprint.post(f"{_NEW}/platform/<platform>")
@screen("member", uses=_PLATFORMS)
def join_platform(platform: str) -> Response:
    """Connect a platform, which credits sales from then on."""
    offer = _of(list_platforms, platform)
    body = {
        "platform": offer["name"],
        "credentials": credentials(offer),
        "slugField": request.form.get("slugField") or None,
    }
    answer = calls.tried(connect_platform, body=body, key=forms.key())
    if answer.refusal:
        return _asked(offer, "platform", refused(answer.refusal, offer), answer.status)
    return screens.sent_on("/dashboard/connections?done=connected")


def credentials(offer: Mapping[str, Any]) -> dict[str, str]:
    """Return what was typed of the credentials that a gateway or a platform takes."""
    typed = {field["name"]: request.form.get(field["name"], "").strip() for field in offer["fields"]}
    return {name: text for name, text in typed.items() if text}


def refused(refusal: calls.CallRefusal, offer: Mapping[str, Any], form_id: str = "") -> FormState:
    """Return the form as it was typed, with what was refused; what is wrong with one credential stands at it."""
    if set(refusal.fields) == {"credentials"}:
        names = [field["name"] for field in offer["fields"] if f"{field['name']} " in f"{refusal.message} "]
        if len(names) == 1:
            return forms.wrong({names[0]: refusal.message or refusal.fields["credentials"]}, form_id=form_id)
        return forms.wrong({}, refusal.message or refusal.fields["credentials"], form_id)
    return forms.refused(refusal, form_id=form_id)


def _of(catalogue: View, name: str) -> Mapping[str, Any]:
    offers: Sequence[Mapping[str, Any]] = calls.needed(catalogue)
    found = next((one for one in offers if one["name"] == name), None)
    if found is None:
        raise not_found("gateway or platform")
    return found


def _asked(offer: Mapping[str, Any], kind: str, form: FormState, status: int = 200) -> Response:
    may_connect = calls.may(connect_gateway if kind == "gateway" else connect_platform)
    return screens.show(
        "brand/connection_new.html", status=status, form=form, offer=offer, kind=kind, may_connect=may_connect
    )
