"""What is connected, in what state, and what can be connected."""

from flask import Blueprint, Response, request

from api.gateways.connections import connect_gateway, list_connections, list_gateways
from api.platforms import (
    change_platform_connection,
    check_platform_connection,
    connect_platform,
    disconnect_platform,
    list_platform_connections,
    list_platforms,
)
from pages import calls, forms, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("connections_page", __name__)

#: What the list and the buttons on it ask of the API.
USES = (
    change_platform_connection,
    check_platform_connection,
    connect_gateway,
    connect_platform,
    disconnect_platform,
    list_connections,
    list_gateways,
    list_platform_connections,
    list_platforms,
)
_DONE = ("disconnected", "checked", "on", "off", "connected", "removed")
_MOST = 200


@blueprint.get("/dashboard/connections")
@screen("member", uses=USES)
def show_connections() -> Response:
    """Show connections, ended ones last, and the catalogue. Budget: 2 round trips, however many there are."""
    return shown()


def shown(*, status: int = 200, form: FormState = forms.EMPTY) -> Response:
    """Return the page of all connections, with what became of a button on it."""
    gateways = calls.needed(list_gateways)
    platforms = calls.needed(list_platforms)
    held = calls.needed(list_connections, query={"take": _MOST})["items"]
    done = request.args.get("done")
    return screens.show(
        "brand/connections.html",
        status=status,
        form=form,
        here="/dashboard/connections",
        gateways=gateways,
        platforms=platforms,
        labels={one["name"]: one["label"] for one in (*gateways, *platforms)},
        connections=sorted(held, key=lambda one: one["status"] == "Disconnected"),
        platform_connections=calls.needed(list_platform_connections, query={"take": _MOST})["items"],
        done=done if done in _DONE else None,
        may_connect=calls.may(connect_gateway),
        may_change=calls.may(change_platform_connection),
    )
