"""The brand's programs, each with its terms in one sentence."""

from flask import Blueprint, Response, request

from api.programs.programs import create_program, list_programs
from pages import api_client, screens
from pages.screens import screen

blueprint = Blueprint("programs_page", __name__)


@blueprint.get("/dashboard/programs")
@screen("member", uses=(create_program, list_programs))
def show_programs() -> Response:
    """Show the programs, newest first. Budget: 1 round trip."""
    query = {
        "cursor": request.args.get("cursor"),
        "includeArchived": "true" if request.args.get("archived") else None,
    }
    programs = api_client.require(list_programs, query=query)
    return screens.render("brand/programs/list.html", rows=programs["items"], next_cursor=programs["nextCursor"])
