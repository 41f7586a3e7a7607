"""Switching to another organization of the signed-in person."""

from uuid import UUID

from flask import Blueprint, Response, request

from api import sessions
from domain.refusals import Refused
from pages import navigation, screens, session
from pages.screens import screen
from pages.sign_in import redirects

blueprint = Blueprint("switch_organization", __name__)


@blueprint.get("/switch-organization")
@screen("member")
def choose_organization() -> Response:
    """Show the organizations of the person. Budget: no round trip but the session's."""
    return screens.render("switch_organization.html")


@blueprint.post("/switch-organization")
@screen("member")
def switch_organization() -> Response:
    """Continue in another organization of the person, under a new cookie. Budget: 2 round trips."""
    cookie = session.read_cookie()
    try:
        organization_id = UUID(request.form.get("organizationId", ""))
    except ValueError:
        organization_id = None
    switched = sessions.switch_organization(cookie, organization_id) if cookie and organization_id else None
    if switched is None:
        raise Refused(404, "not_found", "You have no such organization.")
    return redirects.start_session(switched, requested=navigation.AREAS["member"].home)
