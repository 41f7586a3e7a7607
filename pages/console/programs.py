"""Programs of every organization: found, suspended when they must not earn, and resumed."""

from flask import Blueprint, Response, request

from api.operator.programs.supervised import (
    get_supervised_program,
    list_supervised_programs,
    resume_program,
    suspend_program,
)
from pages import calls, forms, screens
from pages.calls import View
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("operator_programs_page", __name__)

_PROGRAMS = "/console/programs"
_FILTERS = ("q", "organizationId", "status", "cursor")
_NO_PAGE = {"items": (), "nextCursor": None}


@blueprint.get(_PROGRAMS)
@screen("operator", uses=(list_supervised_programs,))
def show_supervised_programs() -> Response:
    """Show programs by the filter in the address, fifty a page. Budget: 1 round trip, however many there are."""
    wanted = {name: request.args.get(name) or None for name in _FILTERS}
    answer = calls.call(list_supervised_programs, query=wanted)
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        form, page = FormState(alert=" ".join(answer.refusal.fields.values())), _NO_PAGE
    return screens.show(
        "console/programs.html",
        status=answer.status,
        form=form,
        programs=page["items"],
        next_cursor=page["nextCursor"],
        is_narrowed=any(wanted.values()),
    )


@blueprint.get(f"{_PROGRAMS}/<program_id>")
@screen("operator", uses=(get_supervised_program,))
def show_supervised_program(program_id: str) -> Response:
    """Show a program with a form to suspend it, or to resume it. Budget: 1 round trip."""
    return _page(program_id, forms.EMPTY)


@blueprint.post(f"{_PROGRAMS}/<program_id>/suspend")
@screen("operator", uses=(get_supervised_program, suspend_program))
def send_suspension(program_id: str) -> Response:
    """Suspend a program, which wants a reason."""
    return _decided(program_id, suspend_program)


@blueprint.post(f"{_PROGRAMS}/<program_id>/resume")
@screen("operator", uses=(get_supervised_program, resume_program))
def send_resumption(program_id: str) -> Response:
    """Let a program earn again, which wants a reason as well."""
    return _decided(program_id, resume_program)


def _decided(program_id: str, view: View) -> Response:
    why = request.form.get("why", "")
    answer = calls.tried(view, path={"program_id": program_id}, body={"why": why}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"{_PROGRAMS}/{answer.data['id']}")
    return _page(program_id, forms.refused(answer.refusal), status=422)


def _page(program_id: str, form: FormState, *, status: int = 200) -> Response:
    program = calls.needed(get_supervised_program, path={"program_id": program_id})
    here = f"{_PROGRAMS}/{program['id']}"
    return screens.show("console/program.html", status=status, form=form, program=program, here=here)
