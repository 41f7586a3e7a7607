"""Applications of affiliates: decided one by one, or several at once.

A decision redirects back to the list, to the row after the decided one, so that keyboard users continue from there.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.affiliates.affiliates import get_affiliate, list_applications
from api.affiliates.decisions import approve_affiliate, approve_affiliates, reject_affiliate
from api.programs.programs import list_programs
from pages import api_client, forms, screens
from pages.brand import choices
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState

blueprint = Blueprint("applications_page", __name__)

_HERE = "/dashboard/affiliates/applications"
_PER_PAGE = 50
_MAX_SKIP = 1_000_000
# Fields of the address that a decision carries over.
_POSITION_FIELDS = ("programId", "cursor")


def _approve(affiliate_id: str) -> Response | FormState:
    """Approve an applicant."""
    answer = send(approve_affiliate, path={"affiliate_id": affiliate_id})
    return forms.form_from_refusal(answer) if answer.refusal else _redirect_to_list(done="approved", who=affiliate_id)


def _reject(affiliate_id: str) -> Response | FormState:
    """Reject an applicant with the typed reason."""
    body = {"reason": request.form.get("reason") or None}
    answer = send(reject_affiliate, path={"affiliate_id": affiliate_id}, body=body)
    return forms.form_from_refusal(answer) if answer.refusal else _redirect_to_list(done="rejected", who=affiliate_id)


def _approve_selected() -> Response | FormState:
    """Approve all selected applicants."""
    ids = request.form.getlist("ids")
    if not ids:
        return FormState(alert="Select at least one applicant.", status=422)
    answer = send(approve_affiliates, body={"ids": ids})
    if answer.refusal:
        return forms.form_from_refusal(answer)
    return _redirect_to_list(done="many", approved=answer.data["approved"], skipped=answer.data["skipped"])


def _redirect_to_list(**outcome: object) -> Response:
    place = {name: request.form.get(name) for name in (*_POSITION_FIELDS, "at")}
    return screens.redirect(f"{_HERE}?{urlencode({name: value for name, value in (place | outcome).items() if value})}")


@form_page(
    blueprint,
    "member",
    _HERE,
    CustomForm("/<affiliate_id>/approve", _approve, (approve_affiliate,)),
    CustomForm("/<affiliate_id>/reject", _reject, (reject_affiliate,)),
    CustomForm("/approve", _approve_selected, (approve_affiliates,)),
    uses=(list_applications, list_programs, get_affiliate),
)
def show_applications(form: FormState | None) -> Response:
    """Show open applications and the last decision. Budget: 3 round trips, however many there are."""
    position = {name: request.values.get(name) or None for name in _POSITION_FIELDS}
    cursor = position["cursor"] or "0"
    skip = int(cursor) if cursor.isascii() and cursor.isdigit() else 0
    query = {"programId": position["programId"], "take": _PER_PAGE + 1, "skip": min(skip, _MAX_SKIP)}
    answer = api_client.call(list_applications, query=query)
    if answer.refusal is not None:
        form = FormState(alert=" ".join(answer.refusal.fields.values()), status=answer.status)
    rows: Sequence[Mapping[str, Any]] = answer.data or []
    programs = choices.fetch_programs()
    return screens.render(
        "brand/applications.html",
        form,
        rows=rows[:_PER_PAGE],
        programs=choices.name_programs(programs),
        questions={program["id"]: choices.application_questions(program) for program in programs},
        kept=position,
        next_cursor=str(skip + _PER_PAGE) if len(rows) > _PER_PAGE else None,
        decided=_read_last_decision(),
    )


def _read_last_decision() -> Mapping[str, object] | None:
    """Return the last decision from the address, as far as the API confirms it."""
    outcome = request.args.get("done")
    if outcome == "many":
        counts = {name: request.args.get(name, "") for name in ("approved", "skipped")}
        return {name: int(count) if count.isascii() and count.isdigit() else 0 for name, count in counts.items()}
    if outcome not in ("approved", "rejected"):
        return None
    answer = api_client.call(get_affiliate, path={"affiliate_id": request.args.get("who") or "-"})
    if answer.refusal is not None or answer.data["status"] not in ("Approved", "Rejected"):
        return None
    return {"id": answer.data["id"], "name": answer.data["fullName"] or answer.data["email"], "is": outcome}
