"""Programs of all organizations: listed, suspended so that they earn nothing, and resumed."""

from flask import Blueprint, Response

from api.operator.programs.suspensions import (
    get_supervised_program,
    list_supervised_programs,
    resume_program,
    suspend_program,
)
from pages import api_client, screens
from pages.form_pages import Form, form_page, read_texts
from pages.forms import FormState
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("operator_programs_page", __name__)

_PROGRAMS = "/console/programs"
_LIST = RowList(list_supervised_programs, ("q", "organizationId", "status"))
_FORMS = (
    Form("/suspend", suspend_program, read_texts("why"), to=f"{_PROGRAMS}/{{id}}"),
    Form("/resume", resume_program, read_texts("why"), to=f"{_PROGRAMS}/{{id}}"),
)


@blueprint.get(_PROGRAMS)
@screen("operator", uses=(list_supervised_programs,))
def show_supervised_programs() -> Response:
    """Show the programs that match the filter in the address, fifty per page. Budget: 1 round trip."""
    return screens.render("console/programs.html", **_LIST.read().values())


@form_page(blueprint, "operator", f"{_PROGRAMS}/<program_id>", *_FORMS, uses=(get_supervised_program,))
def show_supervised_program(form: FormState | None, program_id: str) -> Response:
    """Show a program with a form to suspend it, or to resume it. Budget: 1 round trip."""
    program = api_client.require(get_supervised_program, path={"program_id": program_id})
    return screens.render("console/program.html", form, program=program)
