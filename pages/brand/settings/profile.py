"""The brand's profile: its name, description and addresses."""

from typing import Any

from flask import Blueprint, Response, request

from api.organization.organization import change_organization, get_organization
from pages import api_client, forms, screens
from pages.brand.settings import changes
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState

blueprint = Blueprint("profile_page", __name__)

_HERE = "/dashboard/settings/profile"
_OPTIONAL = ("description", "billingEmail", "industryCategory")


def _change_profile() -> Response | FormState:
    """Change the profile; an empty subdomain keeps the stored one."""
    values: dict[str, Any] = {name: changes.read_optional(name) for name in _OPTIONAL}
    values |= {name: request.form.get(name, "").strip() for name in ("name", "timezone")}
    if subdomain := changes.read_optional("subdomain"):
        values["subdomain"] = subdomain
    return changes.send_changes(values, to=f"{_HERE}?done=saved")


@form_page(
    blueprint,
    "member",
    _HERE,
    CustomForm("", _change_profile, (change_organization,)),
    uses=(get_organization,),
)
def show_profile(form: FormState | None) -> Response:
    """Show the profile. Budget: 1 round trip."""
    organization = api_client.require(get_organization)
    stored = {name: organization[name] for name in ("name", "timezone", "subdomain", *_OPTIONAL)}
    return screens.render(
        "brand/settings/profile.html", form, organization=organization, profile=form or forms.prefill(**stored)
    )
