"""The index of the settings: what each of its pages is for."""

from flask import Blueprint, Response

from api.organization.organization import get_organization
from pages import api_client, screens
from pages.screens import screen

blueprint = Blueprint("settings_page", __name__)


@blueprint.get("/dashboard/settings")
@screen("member", uses=(get_organization,))
def show_settings() -> Response:
    """Show the pages of the settings. Budget: 1 round trip."""
    return screens.render("brand/settings/settings.html", organization=api_client.require(get_organization))
