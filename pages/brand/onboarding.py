"""The steps of setting up a brand: a part of the overview until all are done."""

from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response

from api.organization.onboarding import get_onboarding
from api.programs.programs import create_program
from pages import api_client, screens
from pages.screens import screen

blueprint = Blueprint("onboarding_page", __name__)

#: The operations that a page with the steps uses.
USES = (get_onboarding, create_program)


def read_values() -> dict[str, Any]:
    """Return the template variables of the steps. Costs 1 round trip."""
    onboarding = api_client.require(get_onboarding)
    for step in onboarding["steps"]:
        step["path"] = urlsplit(step["url"]).path
    open_keys = [step["key"] for step in onboarding["steps"] if not step["isDone"]]
    return {
        "onboarding": onboarding,
        # The list is folded once only the webhook is left, which a brand may never need.
        "is_folded": open_keys == ["webhook"],
        "may_set_up": api_client.is_allowed(create_program),
    }


@blueprint.get("/dashboard/onboarding")
@screen("member", uses=USES)
def show_onboarding_part() -> Response:
    """Show the steps alone. Budget: 1 round trip."""
    return screens.render_part("brand/_onboarding.html", **read_values())
