"""The index of the settings: what each of its pages is for, and the sessions of the team."""

from flask import Blueprint, Response

from api.organization.members import list_members, revoke_member_sessions
from api.organization.organization import get_organization
from pages import api_client, screens
from pages.form_pages import Form, form_page
from pages.forms import FormState

blueprint = Blueprint("settings_page", __name__)

_HERE = "/dashboard/settings"


@form_page(
    blueprint,
    "member",
    _HERE,
    Form("/team/<member_id>", revoke_member_sessions, done="team"),
    uses=(get_organization, list_members),
)
def show_settings(form: FormState | None) -> Response:
    """Show the pages of the settings. Budget: 3 round trips."""
    return screens.render(
        "brand/settings/settings.html",
        form,
        organization=api_client.require(get_organization),
        team=api_client.require(list_members) if api_client.is_allowed(list_members) else None,
    )
