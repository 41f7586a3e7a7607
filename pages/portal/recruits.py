"""The recruits of an affiliate with the earnings from each, and the recruiting links."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.affiliates.sub_affiliates import get_recruiting_link, list_recruits
from api.me.person import list_own_programs
from pages import api_client
from pages.list_pages import RowList
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_recruits_page", __name__)

_RECRUITS = RowList(list_recruits)
_MAX_LINKS = 5


@blueprint.get("/portal/recruits")
@screen("account", uses=(*frame.USES, list_recruits, get_recruiting_link, list_own_programs))
def show_recruits() -> Response:
    """Show recruits, newest first. Budget: 4 round trips, and 4 for each of up to 5 programs that pay for recruits."""
    programs = [row for row in api_client.require(list_own_programs) if row["status"] == "Approved"]
    paying = [row for row in programs if row["recruitingPercent"] is not None][:_MAX_LINKS]
    return frame.render("recruits.html", **_RECRUITS.require().values(), links=[_add_link(row) for row in paying])


def _add_link(program: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a program with its recruiting link; None if the brand has no portal for it."""
    answer = api_client.call(get_recruiting_link, query={"programId": program["programId"]})
    return {**program, "url": None if answer.refusal else answer.data["url"]}
