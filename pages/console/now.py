"""The console's first screen: whether the service can do its work, now."""

from flask import Blueprint, Response

from api.service.health import get_readiness
from pages import calls, screens
from pages.screens import screen

blueprint = Blueprint("now_page", __name__)


@blueprint.get("/console")
@screen("operator", uses=(get_readiness,))
def show_now() -> Response:
    """Show what the service depends on, and how that is. Budget: 3 round trips, none within a second of the last."""
    return screens.show("now.html", found=calls.needed(get_readiness))


@blueprint.get("/console/<path:rest>")
@screen("operator")
def show_no_console_page(rest: str) -> Response:
    """Say that there is no such page."""
    return screens.absent(rest)
