"""Security: two-factor authentication of the person and of the organization, and the person's sessions.

A member whose organization requires a second factor sees the page of the second factor alone until it is set up.
"""

from collections.abc import Mapping

import segno
from flask import Blueprint, Response, request

from api import sessions
from api.organization.organization import change_organization, get_organization
from api.organization.second_factor import (
    confirm_second_factor,
    create_second_factor,
    delete_second_factor,
    get_second_factor,
    rotate_recovery_codes,
)
from pages import api_client, forms, screens
from pages.api_client import ApiResult
from pages.form_pages import Body, CustomForm, Form, form_page, send
from pages.forms import FormState

blueprint = Blueprint("security_page", __name__)

_HERE = "/dashboard/settings/security"


def _read_requirement() -> Body:
    return {"requireSecondFactor": "requireSecondFactor" in request.form}


@form_page(
    blueprint,
    "member",
    _HERE,
    Form("", change_organization, _read_requirement, done="saved"),
    uses=(get_organization, get_second_factor),
    restores=True,
)
def show_security(form: FormState | None) -> Response:
    """Show the state of the second factor, and the organization's rule. Budget: 2 round trips."""
    organization = api_client.require(get_organization)
    is_required = "on" if organization["requireSecondFactor"] else None
    return screens.render(
        "brand/settings/security.html",
        form or forms.prefill(requireSecondFactor=is_required),
        organization=organization,
        factor=api_client.require(get_second_factor),
        is_set_up_here=sessions.gives_links("dashboard"),
    )


def _start() -> Response | FormState:
    """Create a secret, and show it with its QR code."""
    answer = send(create_second_factor)
    return forms.form_with_alert(answer) if answer.refusal else _render(new_secret=answer.data)


def _enable() -> Response | FormState:
    """Turn the second factor on, and show the recovery codes once."""
    answer = send(confirm_second_factor, body=_read_code(), shows_all=True)
    if answer.refusal is None:
        return _render(new_codes=answer.data["recoveryCodes"])
    if answer.refusal.code not in _CODE_REFUSALS:
        return forms.form_with_alert(answer)
    # The secret is not shown again by the API; the page that was sent carries it.
    secret = {name: request.form.get(name, "") for name in ("secret", "otpauthUri")}
    return _render(_form_from_refusal(answer), new_secret=secret)


def _replace_codes() -> Response | FormState:
    answer = send(rotate_recovery_codes, body=_read_code(), shows_all=True)
    return _form_from_refusal(answer, "codes-") if answer.refusal else _render(new_codes=answer.data["recoveryCodes"])


def _disable() -> Response | FormState:
    answer = send(delete_second_factor, body=_read_code(), shows_all=True)
    return _form_from_refusal(answer, "off-") if answer.refusal else screens.redirect(f"{_HERE}?done=off")


_CODE_REFUSALS = ("second_factor_code_invalid", "second_factor_blocked")
_FORMS = (
    CustomForm("/start", _start, (create_second_factor,)),
    CustomForm("/enable", _enable, (confirm_second_factor,)),
    CustomForm("/codes", _replace_codes, (rotate_recovery_codes,)),
    CustomForm("/off", _disable, (delete_second_factor,)),
)


@form_page(blueprint, "member", screens.SECOND_FACTOR_PAGE, *_FORMS, uses=(get_second_factor,), restores=True)
def show_second_factor(form: FormState | None) -> Response:
    """Show the person's second factor with the forms to change it. Budget: 1 round trip."""
    return _render(form)


def _render(
    form: FormState | None = None, *, new_secret: dict[str, str] | None = None, new_codes: list[str] | None = None
) -> Response:
    return screens.render(
        "brand/settings/two_factor.html",
        form,
        factor=api_client.require(get_second_factor),
        is_set_up_here=sessions.gives_links("dashboard"),
        new_secret=new_secret,
        qr=_draw_qr(new_secret["otpauthUri"]) if new_secret else None,
        new_codes=new_codes,
        forms_of=lambda form_id: form if form and form.id == form_id else forms.prefill(form_id),
    )


def _draw_qr(uri: str) -> Mapping[str, object]:
    """Return the QR code of an address: how many modules are in a row, and the path of the dark ones."""
    matrix = segno.make(uri, error="m", micro=False).matrix
    dark = [f"M{x} {y}h1v1h-1z" for y, row in enumerate(matrix) for x, module in enumerate(row) if module]
    return {"size": len(matrix), "path": "".join(dark)}


def _read_code() -> Body:
    return {"code": request.form.get("code", "").strip()}


def _form_from_refusal(answer: ApiResult, form_id: str = "") -> FormState:
    """Return the form with its errors and without the code, which is typed again."""
    refused = forms.form_from_refusal(answer, form_id=form_id)
    return FormState({"code": []}, refused.errors, refused.alert, form_id, refused.status)
