"""What a program asks of those who apply: its questions, put together row by row without scripts.

A row is added, moved or taken away by a button that sends the form and gets it back as it was typed; nothing is kept
before it is saved.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, Response, request

from api.programs.programs import change_program, get_program
from domain.programs import application_form
from pages import calls, forms, screens
from pages.calls import CallRefusal
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("application_form_page", __name__)

_HERE = "/dashboard/programs/<program_id>/application-form"
_PARTS: Final = ("label", "key", "type", "step", "required", "options")
_FRESH = {"type": "text", "step": "1"}
_FORM = "applicationForm"
# Twenty questions with fifty options each, as a browser sends them.
_MOST_BYTES = 2 * 1024 * 1024

Row = dict[str, str]


@blueprint.get(_HERE)
@screen("member", uses=(get_program,))
def show_application_form(program_id: str) -> Response:
    """Show the questions of a program. Budget: 2 round trips."""
    program = calls.needed(get_program, path={"program_id": program_id})
    asked = program[_FORM] or {"steps": 1, "fields": []}
    return _show(program, str(asked["steps"]), [_row(one) for one in asked["fields"]])


@blueprint.post(_HERE)
@screen("member", uses=(get_program, change_program), most_bytes=_MOST_BYTES)
def save_application_form(program_id: str) -> Response:
    """Save the questions; or show them again with one more, one less or in another order."""
    program = calls.needed(get_program, path={"program_id": program_id})
    steps, rows = request.form.get("steps", ""), _typed()
    if does := request.form.get("do"):
        return _show(program, steps, _done(does, rows))
    body = {_FORM: _body(steps, rows) if rows else None}
    answer = calls.tried(change_program, path={"program_id": program_id}, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(program, steps, rows, refusal=answer.refusal, status=answer.status)
    return screens.sent_on(f"/dashboard/programs/{program['id']}/application-form?saved=1")


def _row(field: Mapping[str, Any]) -> Row:
    return {
        "label": field["label"],
        "key": field["key"],
        "type": field["type"],
        "step": str(field["step"]),
        "required": "on" if field["required"] else "",
        "options": "\n".join(field["options"]),
    }


def _typed() -> list[Row]:
    """Return the rows as they were typed; where there was one too many it is still there, for the API to refuse."""
    said = request.form.get("rows", "")
    number = int(said) if said.isascii() and said.isdigit() and len(said) < 3 else 0
    rows = range(min(number, application_form.MOST_FIELDS + 1))
    return [{part: request.form.get(f"{part}-{place}", "") for part in _PARTS} for place in rows]


def _done(does: str, rows: list[Row]) -> list[Row]:
    """Return the rows with one more, one less, or one in another place; as they are where that cannot be."""
    what, _, at = does.partition("-")
    if what == "add":
        return [*rows, dict(_FRESH)] if len(rows) < application_form.MOST_FIELDS else rows
    place = int(at) if at.isascii() and at.isdigit() and len(at) < 3 else -1
    if not 0 <= place < len(rows):
        return rows
    others = rows[:place] + rows[place + 1 :]
    if what == "remove":
        return others
    to = {"up": max(place - 1, 0), "down": place + 1}.get(what, place)
    return [*others[:to], rows[place], *others[to:]]


def _body(steps: str, rows: Sequence[Row]) -> dict[str, Any]:
    keys: list[str] = []
    for row in rows:
        keys.append(row["key"].strip() or application_form.key_from(row["label"], taken=[*keys, *_keys(rows)]))
    return {
        "steps": _whole(steps),
        "fields": [
            {
                "key": key,
                "step": _whole(row["step"]),
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


def _whole(text: str) -> int | str:
    return int(text) if text in ("1", "2") else text


def _show(
    program: Mapping[str, Any],
    steps: str,
    rows: Sequence[Row],
    *,
    refusal: CallRefusal | None = None,
    status: int = 200,
) -> Response:
    values = {f"{part}-{place}": [said] for place, row in enumerate(rows) for part, said in row.items() if said}
    values["steps"] = [steps]
    form = FormState(values) if refusal is None else _refused(values, refusal)
    return screens.show(
        "brand/programs/application_form.html",
        status=status,
        form=form,
        here=f"/dashboard/programs/{program['id']}/application-form",
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        rows=len(rows),
        questions=(program[_FORM] or {"fields": []})["fields"],
        most=application_form.MOST_FIELDS,
        is_saved="saved" in request.args,
        can_change=calls.may(change_program) and not program["archivedAt"],
    )


def _refused(values: Mapping[str, Sequence[str]], refusal: CallRefusal) -> FormState:
    """Return the form with what is wrong at each field; what is wrong with the whole is said of the whole."""
    wrong = refusal.more.get("errors", {}).get(_FORM)
    if not isinstance(wrong, dict):
        return FormState(values, {}, " ".join(refusal.fields.values()) or refusal.message)
    fields = wrong.get("fields", {})
    errors = {
        f"{part}-{place}": calls.first(found)
        for place, parts in (fields.items() if isinstance(fields, dict) else ())
        for part, found in parts.items()
    }
    whole = calls.first(fields) if fields and not isinstance(fields, dict) else None
    if "steps" in wrong:
        errors["steps"] = calls.first(wrong["steps"])
    return FormState(values, errors, whole)
