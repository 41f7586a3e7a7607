"""What one does about a connected platform: check it, stop or start crediting by it, let it go."""

from flask import Blueprint, Response, request

from api.platforms import change_platform_connection, check_platform_connection, disconnect_platform
from domain.refused import Refused
from pages import calls, forms, screens
from pages.brand.connections import listing
from pages.screens import screen

blueprint = Blueprint("platform_page", __name__)


@blueprint.post("/dashboard/connections/platforms/<platform_id>")
@screen("member", uses=listing.USES)
def act_on_platform(platform_id: str) -> Response:
    """Do what the button says."""
    path, act = {"connection_id": platform_id}, request.form.get("act", "")
    if act == "checked":
        answer = calls.tried(check_platform_connection, path=path)
    elif act == "removed":
        answer = calls.tried(disconnect_platform, path=path)
    elif act in ("on", "off"):
        body = {"creditSales": act == "on"}
        answer = calls.tried(change_platform_connection, path=path, body=body, key=forms.key())
    else:
        raise Refused(404, "not_found", "There is no such act.")
    if answer.refusal:
        return listing.shown(status=answer.status, form=forms.refused(answer.refusal))
    return screens.sent_on(f"/dashboard/connections?done={act}")
