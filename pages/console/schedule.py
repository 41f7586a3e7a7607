"""The schedule: scheduled jobs, their last runs, and late ones."""

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
    return screens.render("console/schedule.html", **_schedule_values())


@blueprint.get("/console/schedule/fragment")
@screen("operator", uses=(list_schedule,))
def show_schedule_part() -> Response:
    """Show the lines alone. Budget: 1 round trip."""
    return screens.render_part("console/_schedule.html", **_schedule_values())


def _schedule_values() -> dict[str, Any]:
    return {"lines": api_client.require(list_schedule)}
