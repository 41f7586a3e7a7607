"""What was imported: the list, each import as it stands, and taking it back."""

from typing import Any

from flask import Blueprint, Response, request

from api.imports.conversions import preview_conversion_import
from api.imports.history import get_import, list_imports, preview_import_undo, undo_import
from domain.imports import words
from pages import calls, forms, fragments, screens
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("imports_page", __name__)

_FILTERS = ("kind", "status", "cursor")


@blueprint.get("/dashboard/imports")
@screen("member", uses=(list_imports, preview_conversion_import))
def show_imports() -> Response:
    """Show the imports, newest first. Budget: 1 round trip, however many there are."""
    wanted = {name: value for name in _FILTERS if (value := request.args.get(name))}
    found = calls.needed(list_imports, query=wanted)
    return screens.show(
        "brand/imports/list.html",
        imports=found["items"],
        older_cursor=found["nextCursor"],
        may_import=calls.may(preview_conversion_import),
    )


@blueprint.get("/dashboard/imports/<import_id>")
@screen("member", uses=(get_import,))
def show_import(import_id: str) -> Response:
    """Show one import. Budget: 1 round trip."""
    return screens.show("brand/imports/import.html", **_shown(import_id))


@blueprint.get("/dashboard/imports/<import_id>/fragment")
@screen("member", uses=(get_import,))
def show_import_part(import_id: str) -> Response:
    """Show how one import stands, alone. Budget: 1 round trip."""
    return fragments.show("brand/imports/_import.html", **_shown(import_id))


@blueprint.get("/dashboard/imports/<import_id>/undo")
@screen("member", uses=(preview_import_undo,))
def show_undo(import_id: str) -> Response:
    """Show what taking an import back would do, or what holds it back. Budget: 3 round trips."""
    return _undo_page(import_id, forms.EMPTY)


@blueprint.post("/dashboard/imports/<import_id>/undo")
@screen("member", uses=(preview_import_undo, undo_import))
def send_undo(import_id: str) -> Response:
    """Take an import back."""
    answer = calls.call(undo_import, path={"import_id": import_id}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"/dashboard/imports/{import_id}")
    return _undo_page(import_id, _refused(answer), status=answer.status)


def _shown(import_id: str) -> dict[str, Any]:
    found = calls.needed(get_import, path={"import_id": import_id})
    why = [(words.said(code), count) for code, count in sorted(found["reasons"].items())]
    return {"job": found, "why": why, "may_undo": calls.may(undo_import)}


def _refused(answer: CallAnswer) -> FormState:
    assert answer.refusal is not None
    return FormState(alert=answer.refusal.message)


def _undo_page(import_id: str, form: FormState, *, status: int = 200) -> Response:
    found = calls.needed(preview_import_undo, path={"import_id": import_id})
    taken_back = {balance["currency"]: balance["commissionCents"] for balance in found["takenBack"]}
    return screens.show(
        "brand/imports/undo.html", status=status, form=form, job_id=import_id, look=found, taken_back=taken_back
    )
