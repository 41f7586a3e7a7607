"""API keys of a brand's servers. A key and its signing secret are shown once, when they are created."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.organization.keys import create_api_key, list_api_keys, revoke_api_key, rotate_api_key
from pages import api_client, forms, screens
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState

blueprint = Blueprint("api_keys_page", __name__)

_HERE = "/dashboard/api-keys"


def _create_key() -> Response | FormState:
    """Create a key and show its two secrets."""
    body = {name: request.form.get(name, "").strip() for name in ("name", "scope")}
    answer = send(create_api_key, body=body | {"isTest": "isTest" in request.form})
    return forms.form_from_refusal(answer) if answer.refusal else _render_keys(new_key=answer.data)


@form_page(
    blueprint, "member", _HERE, CustomForm("", _create_key, (create_api_key,)), uses=(list_api_keys,), restores=True
)
def show_api_keys(form: FormState | None) -> Response:
    """Show the keys, active ones first. Budget: 1 round trip."""
    return _render_keys(form)


def _render_keys(form: FormState | None = None, *, new_key: Mapping[str, Any] | None = None) -> Response:
    return screens.render(
        "brand/settings/api_keys.html",
        form or forms.prefill(scope="read"),
        keys=api_client.require(list_api_keys),
        made=new_key,
    )


def _rotate_key(key_id: str) -> Response | FormState:
    """Replace a key, which ends at once, and show the new secrets."""
    answer = send(rotate_api_key, path={"key_id": key_id})
    return forms.form_with_alert(answer) if answer.refusal else _render_keys(new_key=answer.data)


_FORMS = (
    CustomForm("/rotate", _rotate_key, (rotate_api_key,)),
    Form("/revoke", revoke_api_key, to=_HERE),
)


@form_page(blueprint, "member", f"{_HERE}/<key_id>", *_FORMS, uses=(create_api_key, list_api_keys))
def show_api_key(form: FormState | None, key_id: str) -> Response:
    """Show one key with the forms to rotate and revoke it. Budget: 2 round trips."""
    api_key = next((row for row in api_client.require(list_api_keys) if row["id"] == key_id), None)
    if api_key is None:
        return screens.refuse_address(key_id)
    return screens.render(
        "brand/settings/api_key.html",
        form,
        api_key=api_key,
        address=f"{_HERE}/{key_id}",
        may_write=api_client.is_allowed(rotate_api_key) and api_key["revokedAt"] is None,
    )
