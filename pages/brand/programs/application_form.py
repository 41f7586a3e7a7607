"""The questions of a program's application form, edited row by row without scripts.

A row is added, moved or removed by a button that sends the form and gets it back as typed; only the save button stores
anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from flask import Blueprint, Response, request

from api.programs.programs import change_program, get_program
from domain.programs import application_form
from pages import api_client, screens
from pages.api_client import ApiResult
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("application_form_page", __name__)

_PARTS: Final = ("label", "key", "type", "step", "required", "options")
_NEW_ROW = {"type": "text", "step": "1"}
_FORM = "applicationForm"
# Twenty questions with fifty options each, as a browser sends them.
_MAX_BYTES = 2 * 1024 * 1024

Row = dict[str, str]


def _row_from_field(field: Mapping[str, Any]) -> Row:
    return {
        "label": field["label"],
        "key": field["key"],
        "type": field["type"],
        "step": str(field["step"]),
        "required": "on" if field["required"] else "",
        "options": "\n".join(field["options"]),
    }


def _read_rows() -> list[Row]:
    """Return the rows as typed; one above the maximum is included, for the API to refuse."""
    typed = request.form.get("rows", "")
    number = int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 3 else 0
    rows = range(min(number, application_form.MAX_FIELDS + 1))
    return [{part: request.form.get(f"{part}-{place}", "") for part in _PARTS} for place in rows]


def _edit_rows(action: str, rows: list[Row]) -> list[Row]:
    """Return the rows with one added, removed or moved; unchanged if that is impossible."""
    verb, _, at = action.partition("-")
    if verb == "add":
        return [*rows, dict(_NEW_ROW)] if len(rows) < application_form.MAX_FIELDS else rows
    place = int(at) if at.isascii() and at.isdigit() and len(at) < 3 else -1
    if not 0 <= place < len(rows):
        return rows
    others = rows[:place] + rows[place + 1 :]
    if verb == "remove":
        return others
    to = {"up": max(place - 1, 0), "down": place + 1}.get(verb, place)
    return [*others[:to], rows[place], *others[to:]]


def _form_body(steps: str, rows: Sequence[Row]) -> dict[str, Any]:
    keys: list[str] = []
    for row in rows:
        keys.append(row["key"].strip() or application_form.key_from(row["label"], taken=[*keys, *_keys(rows)]))
    return {
        "steps": _parse_step(steps),
        "fields": [
            {
                "key": key,
                "step": _parse_step(row["step"]),
                "label": row["label"],
                "type": row["type"],
                "required": bool(row["required"]),
                "options": [option.strip() for option in row["options"].splitlines() if option.strip()],
            }
            for key, row in zip(keys, rows, strict=True)
        ],
    }


def _keys(rows: Sequence[Row]) -> list[str]:
    return [row["key"].strip() for row in rows]


def _parse_step(text: str) -> int | str:
    return int(text) if text in ("1", "2") else text


def _save(program_id: str) -> Response:
    """Save the questions; or show them again with a row added, removed or moved."""
    program = api_client.require(get_program, path={"program_id": program_id})
    steps, rows = request.form.get("steps", ""), _read_rows()
    if action := request.form.get("do"):
        return _render_form(_fill_form(steps, _edit_rows(action, rows)), program)
    answer = send(
        change_program, path={"program_id": program_id}, body={_FORM: _form_body(steps, rows) if rows else None}
    )
    if answer.refusal is not None:
        return _render_form(_form_from_refusal(_fill_form(steps, rows), answer), program)
    return screens.redirect(f"/dashboard/programs/{program['id']}/application-form?saved=1")


@form_page(
    blueprint,
    "member",
    "/dashboard/programs/<program_id>/application-form",
    CustomForm("", _save, (change_program,), _MAX_BYTES),
    uses=(get_program,),
)
def show_application_form(form: FormState | None, program_id: str) -> Response:
    """Show the questions of a program. Budget: 2 round trips."""
    program = api_client.require(get_program, path={"program_id": program_id})
    questions = program[_FORM] or {"steps": 1, "fields": []}
    rows = [_row_from_field(field) for field in questions["fields"]]
    return _render_form(form or _fill_form(str(questions["steps"]), rows), program)


def _fill_form(steps: str, rows: Sequence[Row]) -> FormState:
    values = {f"{part}-{place}": [text] for place, row in enumerate(rows) for part, text in row.items() if text}
    return FormState(values | {"steps": [steps], "rows": [str(len(rows))]})


def _render_form(form: FormState, program: Mapping[str, Any]) -> Response:
    return screens.render(
        "brand/programs/application_form.html",
        form,
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        rows=int(form.value("rows")),
        questions=(program[_FORM] or {"fields": []})["fields"],
        most=application_form.MAX_FIELDS,
        is_saved="saved" in request.args,
        can_change=api_client.is_allowed(change_program) and not program["archivedAt"],
    )


def _form_from_refusal(form: FormState, answer: ApiResult) -> FormState:
    """Return the form with each error at its field, and errors of the whole form above it."""
    assert answer.refusal is not None
    form, refusal = replace(form, status=answer.status), answer.refusal
    wrong = refusal.more.get("errors", {}).get(_FORM)
    if not isinstance(wrong, dict):
        return replace(form, alert=" ".join(refusal.fields.values()) or refusal.message)
    fields = wrong.get("fields", {})
    errors = {
        f"{part}-{place}": api_client.first_error(error)
        for place, parts in (fields.items() if isinstance(fields, dict) else ())
        for part, error in parts.items()
    }
    whole = api_client.first_error(fields) if fields and not isinstance(fields, dict) else None
    if "steps" in wrong:
        errors["steps"] = api_client.first_error(wrong["steps"])
    return replace(form, errors=errors, alert=whole)
