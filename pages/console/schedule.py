"""The schedule: what is done by the clock, when it was done last, and what is late."""

from typing import Any

from flask import Blueprint, Response

from api.operator.schedule import list_schedule
from pages import api_client, screens
from pages.screens import screen

blueprint = Blueprint("schedule_page", __name__)


@blueprint.get("/console/schedule")
@screen("operator", uses=(list_schedule,))
def show_schedule() -> Response:
    """Show the schedule. Budget: 1 round trip."""
    return screens.render("console/schedule.html", **_lines())


@blueprint.get("/console/schedule/fragment")
@screen("operator", uses=(list_schedule,))
def show_schedule_part() -> Response:
    """Show the lines alone. Budget: 1 round trip."""
    return screens.render_part("console/_schedule.html", **_lines())


def _lines() -> dict[str, Any]:
    return {"lines": api_client.require(list_schedule)}
