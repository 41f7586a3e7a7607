"""Connections with their states, the catalogue, and actions on a connected platform."""

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
from domain.refusals import Refused
from pages import api_client, screens
from pages.api_client import View
from pages.form_pages import CustomForm, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("connections_page", __name__)

_READS = (
    connect_gateway,
    connect_platform,
    list_connections,
    list_gateways,
    list_platform_connections,
    list_platforms,
)
_MAX_ROWS = 200


def _act_on_platform(platform_id: str) -> Response | FormState:
    """Check a platform, stop or start crediting by it, or disconnect it, by the button that was pressed."""
    act, body = request.form.get("act", ""), None
    operation: View
    if act == "checked":
        operation = check_platform_connection
    elif act == "removed":
        operation = disconnect_platform
    elif act in ("on", "off"):
        operation, body = change_platform_connection, {"creditSales": act == "on"}
    else:
        raise Refused(404, "not_found", "There is no such action.")
    to = f"/dashboard/connections?done={act}"
    return send_form(operation, path={"connection_id": platform_id}, body=body, to=to)


_ACT = CustomForm(
    "/platforms/<platform_id>",
    _act_on_platform,
    (change_platform_connection, check_platform_connection, disconnect_platform),
)


@form_page(blueprint, "member", "/dashboard/connections", _ACT, uses=_READS)
def show_connections(form: FormState | None) -> Response:
    """Show connections, ended ones last, and the catalogue. Budget: 2 round trips, however many there are."""
    gateways = api_client.require(list_gateways)
    platforms = api_client.require(list_platforms)
    connections = api_client.require(list_connections, query={"take": _MAX_ROWS})["items"]
    return screens.render(
        "brand/connections.html",
        form,
        gateways=gateways,
        platforms=platforms,
        labels={connection["name"]: connection["label"] for connection in (*gateways, *platforms)},
        connections=sorted(connections, key=lambda connection: connection["status"] == "Disconnected"),
        platform_connections=api_client.require(list_platform_connections, query={"take": _MAX_ROWS})["items"],
    )
