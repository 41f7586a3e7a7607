"""The keys of a brand's own servers. A key and its signing secret are shown when they are made, and never again."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.organization.keys import create_api_key, list_api_keys, revoke_api_key, rotate_api_key
from pages import calls, forms, kept, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("api_keys_page", __name__)

_HERE = "/dashboard/api-keys"
_NEW = {"scope": "read"}


@blueprint.get(_HERE)
@screen("member", uses=(list_api_keys, create_api_key))
def show_api_keys() -> Response:
    """Show the keys, those in force first. Budget: 1 round trip."""
    return _list(kept.form() or forms.blank(**_NEW))


@blueprint.post(_HERE)
@screen("member", uses=(list_api_keys, create_api_key))
def send_api_key() -> Response:
    """Make a key and show its two secrets."""
    told = {name: request.form.get(name, "").strip() for name in ("name", "scope")}
    answer = calls.tried(create_api_key, body=told | {"isTest": "isTest" in request.form}, key=forms.key())
    if answer.refusal is not None:
        return _list(forms.refused(answer.refusal), status=answer.status)
    return _list(forms.blank(**_NEW), made=answer.data)


@blueprint.get(f"{_HERE}/<key_id>")
@screen("member", uses=(list_api_keys, rotate_api_key, revoke_api_key))
def show_api_key(key_id: str) -> Response:
    """Show one key, and what ends it. Budget: 2 round trips."""
    return _one(key_id)


@blueprint.post(f"{_HERE}/<key_id>/rotate")
@screen("member", uses=(list_api_keys, rotate_api_key, revoke_api_key))
def send_rotation(key_id: str) -> Response:
    """Put a new key in the place of one, which ends at once, and show the new secrets."""
    answer = calls.tried(rotate_api_key, path={"key_id": key_id}, body={}, key=forms.key())
    if answer.refusal is not None:
        return _one(key_id, FormState(alert=answer.refusal.message), status=answer.status)
    return _list(forms.blank(**_NEW), made=answer.data)


@blueprint.post(f"{_HERE}/<key_id>/revoke")
@screen("member", uses=(list_api_keys, rotate_api_key, revoke_api_key))
def send_revocation(key_id: str) -> Response:
    """End a key for good."""
    answer = calls.tried(revoke_api_key, path={"key_id": key_id})
    if answer.refusal is not None:
        return _one(key_id, FormState(alert=answer.refusal.message), status=answer.status)
    return screens.sent_on(_HERE)


def _list(form: FormState, *, status: int = 200, made: Mapping[str, Any] | None = None) -> Response:
    return screens.show(
        "brand/settings/api_keys.html",
        status=status,
        form=form,
        here=_HERE,
        keys=calls.needed(list_api_keys),
        made=made,
        may_write=calls.may(create_api_key),
    )


def _one(key_id: str, form: FormState = forms.EMPTY, *, status: int = 200) -> Response:
    found = next((one for one in calls.needed(list_api_keys) if one["id"] == key_id), None)
    if found is None:
        return screens.absent(key_id)
    return screens.show(
        "brand/settings/api_key.html",
        status=status,
        form=form,
        api_key=found,
        address=f"{_HERE}/{key_id}",
        may_write=calls.may(rotate_api_key) and found["revokedAt"] is None,
    )
