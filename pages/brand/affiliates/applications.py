"""Who wants to be let in: decided one by one, or several at once.

A decision leads back to the list, to the row after the one that is gone, so that a keyboard goes on from there.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.affiliates.affiliates import get_affiliate, list_applications
from api.affiliates.decisions import approve_affiliate, approve_affiliates, reject_affiliate
from api.programs.programs import list_programs
from pages import calls, forms, screens
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("applications_page", __name__)

_HERE = "/dashboard/affiliates/applications"
_USES = (list_applications, list_programs, get_affiliate, approve_affiliate, approve_affiliates, reject_affiliate)
_PER_PAGE = 50
_DEEPEST = 1_000_000
# What stays in the address when one comes back from a decision.
_KEPT = ("programId", "cursor")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_applications() -> Response:
    """Show who waits, and what was decided last. Budget: 3 round trips, however many there are."""
    return _shown()


@blueprint.post(f"{_HERE}/<affiliate_id>/approve")
@screen("member", uses=_USES)
def approve_application(affiliate_id: str) -> Response:
    """Let somebody in."""
    answer = calls.tried(approve_affiliate, path={"affiliate_id": affiliate_id}, body={}, key=forms.key())
    return _shown(answer) if answer.refusal else _back(done="approved", who=affiliate_id)


@blueprint.post(f"{_HERE}/<affiliate_id>/reject")
@screen("member", uses=_USES)
def reject_application(affiliate_id: str) -> Response:
    """Turn somebody down, with the reason that was given."""
    reason = {"reason": request.form.get("reason") or None}
    answer = calls.tried(reject_affiliate, path={"affiliate_id": affiliate_id}, body=reason, key=forms.key())
    return _shown(answer) if answer.refusal else _back(done="rejected", who=affiliate_id)


@blueprint.post(f"{_HERE}/approve")
@screen("member", uses=_USES)
def approve_applications() -> Response:
    """Let all in who are ticked."""
    ids = request.form.getlist("ids")
    if not ids:
        return _shown(alert="Tick somebody first.")
    answer = calls.tried(approve_affiliates, body={"ids": ids}, key=forms.key())
    if answer.refusal:
        return _shown(answer)
    return _back(done="many", approved=answer.data["approved"], skipped=answer.data["skipped"])


def _shown(refused: calls.CallAnswer | None = None, *, alert: str | None = None) -> Response:
    form, status = forms.EMPTY, 200
    if refused is not None and refused.refusal is not None:
        form, status = forms.refused(refused.refusal), refused.status
    elif alert is not None:
        form, status = FormState(alert=alert), 422
    kept = {name: request.values.get(name) or None for name in _KEPT}
    skip = int(kept["cursor"] or 0) if (kept["cursor"] or "").isascii() and (kept["cursor"] or "0").isdigit() else 0
    query = {"programId": kept["programId"], "take": _PER_PAGE + 1, "skip": min(skip, _DEEPEST)}
    answer = calls.call(list_applications, query=query)
    if answer.refusal is not None:
        form, status = FormState(alert=" ".join(answer.refusal.fields.values())), answer.status
    rows: Sequence[Mapping[str, Any]] = answer.data or []
    programs = choices.records()
    return screens.show(
        "brand/applications.html",
        status=status,
        form=form,
        here=_HERE,
        rows=rows[:_PER_PAGE],
        programs=choices.named(programs),
        questions={one["id"]: choices.questions(one) for one in programs},
        kept=kept,
        next_cursor=str(skip + _PER_PAGE) if len(rows) > _PER_PAGE else None,
        done=_done(),
        can_decide=calls.may(approve_affiliate),
        can_decide_many=calls.may(approve_affiliates),
    )


def _done() -> Mapping[str, object] | None:
    """Return what was decided last, as the address says it and the API confirms it."""
    said = request.args.get("done")
    if said == "many":
        counts = {name: request.args.get(name, "") for name in ("approved", "skipped")}
        return {name: int(count) if count.isascii() and count.isdigit() else 0 for name, count in counts.items()}
    if said not in ("approved", "rejected"):
        return None
    answer = calls.call(get_affiliate, path={"affiliate_id": request.args.get("who") or "-"})
    if answer.refusal is not None or answer.data["status"] not in ("Approved", "Rejected"):
        return None
    return {"id": answer.data["id"], "name": answer.data["fullName"] or answer.data["email"], "is": said}


def _back(**said: object) -> Response:
    kept = {name: request.form.get(name) for name in (*_KEPT, "at")}
    return screens.sent_on(f"{_HERE}?{urlencode({name: value for name, value in (kept | said).items() if value})}")
