"""The ways in for programs: API keys, webhooks, the embedded page, agents and no-code platforms."""

from flask import Blueprint, Response

import settings
from api.embed.tokens import create_embed_token
from api.organization.audit_log import list_audit_log
from api.organization.keys import list_api_keys
from api.webhooks.endpoints import list_webhook_endpoints
from pages import screens
from pages.screens import screen

blueprint = Blueprint("developers_page", __name__)


@blueprint.get("/dashboard/settings/developers")
@screen("member", uses=(list_api_keys, list_webhook_endpoints, create_embed_token, list_audit_log))
def show_developers() -> Response:
    """Show the ways in for programs. Costs no round trip beyond the session's."""
    return screens.render("brand/settings/developers.html", base_url=settings.current().web.url)
