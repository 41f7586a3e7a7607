"""Connections of all organizations that gateways or platforms refuse, or whose events wait."""

from flask import Blueprint, Response

from api.operator.connections import list_troubled_connections
from pages import api_client, screens
from pages.screens import screen

blueprint = Blueprint("operator_connections_page", __name__)


@blueprint.get("/console/connections")
@screen("operator", uses=(list_troubled_connections,))
def show_troubled_connections() -> Response:
    """Show connections with problems. Budget: 2 round trips."""
    return screens.render("console/connections.html", connections=api_client.require(list_troubled_connections))
