"""The programs of an affiliate with status and terms, and other offers of their brands."""

from flask import Blueprint, Response

from api.me.applications import list_own_applications
from api.me.person import list_own_programs, list_program_offers
from pages import api_client
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_programs_page", __name__)

_HERE = "/portal/programs"
_USES = (*frame.USES, list_own_programs, list_program_offers, list_own_applications)


@blueprint.get(_HERE)
@screen("account", uses=_USES)
def show_own_programs() -> Response:
    """Show programs, offers, and unfinished applications. Budget: 4 round trips, however many there are."""
    return frame.render(
        "programs.html",
        programs=api_client.require(list_own_programs),
        offers=api_client.require(list_program_offers),
        applications={
            application["affiliateId"]: application for application in api_client.require(list_own_applications)
        },
    )
