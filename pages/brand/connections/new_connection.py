"""Connecting a gateway or a platform: its credentials are checked first, then the remaining steps there are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response, request

from api.gateways.connections import connect_gateway, list_gateways
from api.platforms import connect_platform, list_platforms
from domain.refusals import not_found
from pages import api_client, forms, screens
from pages.api_client import ApiResult, View
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("connecting_page", __name__)

_NEW = "/dashboard/connections/new"


def _connect_gateway(gateway: str) -> Response | FormState:
    """Connect a gateway and show the remaining steps there, once."""
    offer = find_offer(list_gateways, gateway)
    if (incomplete := _find_missing(offer)) is not None:
        return incomplete
    body = {"gateway": offer["name"], "mode": request.form.get("mode", "live"), "credentials": read_credentials(offer)}
    answer = send(connect_gateway, body=body)
    if answer.refusal:
        return form_from_refusal(answer, offer)
    return screens.render(
        "brand/connection_setup.html", offer=offer, connection=answer.data, setup=answer.data["setup"]
    )


@form_page(
    blueprint,
    "member",
    f"{_NEW}/gateway/<gateway>",
    CustomForm("", _connect_gateway, (connect_gateway,)),
    uses=(list_gateways,),
)
def ask_for_gateway(form: FormState | None, gateway: str) -> Response:
    """Show the credentials that a gateway needs. Costs no round trip beyond the session's."""
    return _render_form(
        form or forms.prefill(mode="live"), find_offer(list_gateways, gateway), "gateway", connect_gateway
    )


def _connect_platform(platform: str) -> Response | FormState:
    """Connect a platform, which credits sales from then on."""
    offer = find_offer(list_platforms, platform)
    if (incomplete := _find_missing(offer)) is not None:
        return incomplete
    slug_field = request.form.get("slugField") or None
    body = {"platform": offer["name"], "credentials": read_credentials(offer), "slugField": slug_field}
    answer = send(connect_platform, body=body)
    if answer.refusal:
        return form_from_refusal(answer, offer)
    return screens.redirect("/dashboard/connections?done=connected")


@form_page(
    blueprint,
    "member",
    f"{_NEW}/platform/<platform>",
    CustomForm("", _connect_platform, (connect_platform,)),
    uses=(list_platforms,),
)
def ask_for_platform(form: FormState | None, platform: str) -> Response:
    """Show the credentials that a platform needs. Costs no round trip beyond the session's."""
    offer = find_offer(list_platforms, platform)
    return _render_form(form or forms.prefill(slugField=offer["slugField"]), offer, "platform", connect_platform)


def _render_form(form: FormState, offer: Mapping[str, Any], kind: str, operation: View) -> Response:
    return screens.render(
        "brand/connection_new.html", form, offer=offer, kind=kind, may_connect=api_client.is_allowed(operation)
    )


def read_credentials(offer: Mapping[str, Any]) -> dict[str, str]:
    """Return the typed credentials of a gateway or a platform; empty ones are left out."""
    typed = {field["name"]: request.form.get(field["name"], "").strip() for field in offer["fields"]}
    return {name: text for name, text in typed.items() if text}


def _find_missing(offer: Mapping[str, Any]) -> FormState | None:
    """Return the form with an error at each required credential without a text; None if all have one."""
    typed = read_credentials(offer)
    missing = [field["name"] for field in offer["fields"] if field["required"] and field["name"] not in typed]
    return forms.form_with_errors(dict.fromkeys(missing, forms.FILL_IN)) if missing else None


def form_from_refusal(answer: ApiResult, offer: Mapping[str, Any], form_id: str = "") -> FormState:
    """Return the form as typed with the refusal; an error of one credential appears at its field."""
    form, refusal = forms.form_from_refusal(answer, form_id=form_id), answer.refusal
    if refusal is None or set(refusal.fields) != {"credentials"}:
        return form
    message = refusal.message or refusal.fields["credentials"]
    names = [field["name"] for field in offer["fields"] if f"{field['name']} " in f"{refusal.message} "]
    is_of_one = len(names) == 1
    return replace(form, errors={names[0]: message} if is_of_one else {}, alert=None if is_of_one else message)


def find_offer(catalogue: View, name: str) -> Mapping[str, Any]:
    """Return a catalogue's entry of a gateway or a platform. Raises Refused if it has none of this name."""
    offers: Sequence[Mapping[str, Any]] = api_client.require(catalogue)
    offer = next((offer for offer in offers if offer["name"] == name), None)
    if offer is None:
        raise not_found("gateway or platform")
    return offer
