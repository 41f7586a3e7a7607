"""One program: its terms, the figures of a range of days, tracking, budget, details and its last events."""

from flask import Blueprint, Response

from api.programs.numbers import get_budget_status, get_tracking_status, list_recent_events
from api.programs.partner_groups import list_partner_groups
from api.programs.performance_tiers import list_performance_tiers
from api.programs.programs import archive_program, change_program, get_program
from api.programs.sub_affiliates import get_sub_affiliate_config
from pages import api_client, screens
from pages.brand import performance
from pages.screens import screen
from pages.times import date_ranges

blueprint = Blueprint("program_page", __name__)

_MAX_EVENTS = 20


@blueprint.get("/dashboard/programs/<program_id>")
@screen(
    "member",
    uses=(
        get_program,
        get_budget_status,
        get_tracking_status,
        list_recent_events,
        list_partner_groups,
        list_performance_tiers,
        get_sub_affiliate_config,
        *performance.USES,
    ),
)
def show_program(program_id: str) -> Response:
    """Show a program. Budget: 16 round trips, however much there is."""
    path = {"program_id": program_id}
    program = api_client.require(get_program, path=path)
    chosen = date_ranges.read_range()
    return screens.render(
        "brand/programs/program.html",
        chosen.form,
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        budget=api_client.require(get_budget_status, path=path),
        tracking=api_client.require(get_tracking_status, path=path),
        events=api_client.require(list_recent_events, path=path, query={"limit": _MAX_EVENTS}),
        groups=api_client.require(list_partner_groups, path=path),
        tiers=api_client.require(list_performance_tiers, path=path),
        recruiting=api_client.require(get_sub_affiliate_config, path=path),
        chosen=chosen,
        ranges=date_ranges.LABELS,
        shown=performance.read_performance(chosen, program["id"]),
        can_change=api_client.is_allowed(change_program) and not program["archivedAt"],
        can_archive=api_client.is_allowed(archive_program) and not program["archivedAt"],
    )
