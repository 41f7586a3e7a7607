"""The list of switches, and the systems that a brand can leave."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response

from api.switches.sources import list_switch_sources
from api.switches.switches import create_switch, list_switches
from pages import api_client, screens
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("switches_page", __name__)

_SWITCHES = RowList(list_switches, ("source", "state"))
_ENDED = ("Completed", "Undone", "Cancelled", "Undoing")


@blueprint.get("/dashboard/switch")
@screen("member", uses=(list_switches, list_switch_sources, create_switch))
def show_switches() -> Response:
    """Show the switches, newest first, and the systems. Budget: 3 round trips, however many there are."""
    page = _SWITCHES.require()
    sources = api_client.require(list_switch_sources)
    return screens.render(
        "brand/switches/list.html",
        **page.values(),
        sources=sources,
        labels={source["name"]: source["label"] for source in sources},
        open_switch=find_open(page.rows),
    )


def find_open(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the switch that has to end before another one can start; None without one."""
    return next((row for row in rows if row["state"] not in _ENDED), None)
