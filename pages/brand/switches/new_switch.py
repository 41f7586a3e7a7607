"""A new switch: the key of the system, which is checked before anything is stored."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response, request

from api.switches.sources import list_switch_sources
from api.switches.switches import create_switch, list_switches
from domain.refusals import Refused, not_found
from pages import api_client, forms, screens
from pages.api_client import ApiResult
from pages.brand.switches import listing
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("new_switch_page", __name__)

#: The alert of a form that was sent too often.
TOO_MANY = "You pressed buttons like this one too often within a minute. Wait a minute, then press it again."
_TOO_MANY_REQUESTS = 429
_KEY_REFUSED = "The system does not accept this key. Copy it again from the place named below, with all its characters."


def find_source(name: str) -> Mapping[str, Any]:
    """Return a system by its name. Raises Refused 404 for another name."""
    sources = api_client.require(list_switch_sources)
    source: Mapping[str, Any] | None = next((source for source in sources if source["name"] == name), None)
    if source is None:
        raise not_found("source")
    return source


def read_credentials(source: Mapping[str, Any]) -> dict[str, str]:
    """Return the typed credentials; empty ones are left out."""
    typed = {field["name"]: request.form.get(field["name"], "").strip() for field in source["fields"]}
    return {name: text for name, text in typed.items() if text}


def find_missing(source: Mapping[str, Any], form_id: str = "") -> FormState | None:
    """Return the form with an error at each required credential without a text; None if all have one."""
    typed = read_credentials(source)
    missing = [field["name"] for field in source["fields"] if field["required"] and field["name"] not in typed]
    return forms.form_with_errors(dict.fromkeys(missing, forms.FILL_IN), form_id=form_id) if missing else None


def form_from_refusal(answer: ApiResult, form_id: str = "") -> FormState:
    """Return the form as typed with the refusal; what is wrong with credentials appears above it.

    Raises Refused where correcting the form cannot help.
    """
    if answer.status in (401, 403, 404):
        api_client.require_data(answer)
    form, refusal = forms.form_from_refusal(answer, form_id=form_id), answer.refusal
    if answer.status == _TOO_MANY_REQUESTS:
        return replace(form, alert=TOO_MANY)
    if refusal is not None and refusal.code == "switch_credentials_refused":
        return replace(form, errors={}, alert=_KEY_REFUSED)
    if refusal is not None and set(refusal.fields) == {"credentials"}:
        return replace(form, errors={}, alert=refusal.message or refusal.fields["credentials"])
    return form


def _connect() -> Response | FormState:
    """Connect the account; the next page asks which campaign leads to which program."""
    source = find_source(request.form.get("source", ""))
    if (incomplete := find_missing(source)) is not None:
        return incomplete
    body = {"source": source["name"], "credentials": read_credentials(source)}
    answer = send(create_switch, body=body, shows_all=True)
    if answer.refusal:
        return form_from_refusal(answer)
    return screens.redirect(f"/dashboard/switch/{answer.data['id']}")


@form_page(
    blueprint,
    "member",
    "/dashboard/switch/new",
    CustomForm("", _connect, (create_switch,)),
    uses=(list_switch_sources, list_switches),
)
def show_new_switch(form: FormState | None) -> Response:
    """Show the key that a system needs, and where it is; or the switch that is open. Budget: 4 round trips."""
    if not api_client.is_allowed(create_switch):
        raise Refused(403)
    name = request.form.get("source") or request.args.get("source") or "files"
    rows = api_client.require(list_switches)["items"]
    source, open_switch = find_source(name), listing.find_open(rows)
    return screens.render("brand/switches/new.html", form, source=source, open_switch=open_switch)
