"""Imports: the list, the status of one, and undoing it."""

from typing import Any

from flask import Blueprint, Response

from api.imports.conversions import preview_conversion_import
from api.imports.history import get_import, list_imports, preview_import_undo, undo_import
from domain.imports import verdicts
from pages import api_client, screens
from pages.brand.imports.row_words import name_fields
from pages.brand.switches import switch_words
from pages.form_pages import Form, form_page
from pages.forms import FormState
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("imports_page", __name__)

_IMPORTS = RowList(list_imports, ("kind", "status"))


@blueprint.get("/dashboard/imports")
@screen("member", uses=(list_imports, preview_conversion_import))
def show_imports() -> Response:
    """Show the imports, newest first. Budget: 1 round trip, however many there are."""
    return screens.render("brand/imports/list.html", **_IMPORTS.require().values())


@blueprint.get("/dashboard/imports/<import_id>")
@screen("member", uses=(get_import,))
def show_import(import_id: str) -> Response:
    """Show one import. Budget: 1 round trip."""
    return screens.render("brand/imports/import.html", **_import_values(import_id))


@blueprint.get("/dashboard/imports/<import_id>/fragment")
@screen("member", uses=(get_import,))
def show_import_part(import_id: str) -> Response:
    """Show the status of one import alone. Budget: 1 round trip."""
    return screens.render_part("brand/imports/_import.html", **_import_values(import_id))


def _import_values(import_id: str) -> dict[str, Any]:
    job = api_client.require(get_import, path={"import_id": import_id})
    why = [
        (_describe(code, is_of_switch=bool(job["switchId"])), count) for code, count in sorted(job["reasons"].items())
    ]
    warnings = [
        (warning["line"] or warning["index"] + 1, name_fields(warning["message"])) for warning in job["warnings"]
    ]
    return {"job": job, "why": why, "warnings": warnings, "may_undo": api_client.is_allowed(undo_import)}


def _describe(code: str, *, is_of_switch: bool) -> str:
    words = switch_words.REASONS.get(code) if is_of_switch else None
    return words or name_fields(verdicts.to_sentence(code))


_UNDO = Form("", undo_import, to="/dashboard/imports/{import_id}", shows_all=True)


@form_page(blueprint, "member", "/dashboard/imports/<import_id>/undo", _UNDO, uses=(preview_import_undo,))
def show_undo(form: FormState | None, import_id: str) -> Response:
    """Show the effects of undoing an import, or the reasons against it. Budget: 3 round trips."""
    preview = api_client.require(preview_import_undo, path={"import_id": import_id})
    taken_back = {balance["currency"]: balance["commissionCents"] for balance in preview["takenBack"]}
    return screens.render("brand/imports/undo.html", form, job_id=import_id, look=preview, taken_back=taken_back)
