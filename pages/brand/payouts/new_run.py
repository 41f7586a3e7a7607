"""A new run: what it would pay, to whom and who stays behind; and its confirmation by typing the total.

The form carries the figures that were shown, and the API pays only if they are those of the moment.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.payouts.payouts import get_funding_status, list_payout_holds
from api.payouts.runs import preview_payouts, run_payouts
from domain.money import wording
from domain.refused import Refused
from pages import calls, forms, kept, screens
from pages.brand.payouts import planned
from pages.brand.payouts.planned import CURRENCY, ConfirmedFigures, PlannedRun
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("new_payout_run_page", __name__)

_NEW, _CONFIRM = "/dashboard/payouts/new", "/dashboard/payouts/new/confirm"
_MOVED = "confirm_total_mismatch"


@blueprint.get(_NEW)
@screen("member", uses=(preview_payouts, run_payouts, get_funding_status, list_payout_holds))
def show_new_run() -> Response:
    """Show what a run would pay now. Budget: 10 round trips, however much is due."""
    funding = calls.needed(get_funding_status)
    return screens.show(
        "brand/payouts/new_run.html",
        run=_planned() if calls.may(preview_payouts) else None,
        funding=funding,
        holds=calls.needed(list_payout_holds),
        can_pay=calls.may(run_payouts) and funding["payoutsAllowed"],
        next=_CONFIRM,
    )


@blueprint.get(_CONFIRM)
@screen("member", uses=(preview_payouts, run_payouts, get_funding_status))
def show_confirm() -> Response:
    """Show what is to be confirmed, with what was typed before a new login. Budget: 9 round trips."""
    _check_may_pay()
    run, typed = _planned(), kept.form()
    return _shown(run, _came_back(typed, run) if typed else forms.EMPTY)


@blueprint.post(_CONFIRM)
@screen("member", uses=(preview_payouts, run_payouts, get_funding_status))
def confirm_run() -> Response:
    """Pay what was shown, if its total was typed and every figure still holds; show the new figures if not."""
    _check_may_pay()
    seen = planned.confirmed(request.form.get("figures", ""))
    if seen is None or planned.typed_cents(request.form.get("total", "")) != seen.total:
        run = _planned()
        return _shown(run, _wrong(run, seen), status=422)
    answer = calls.call(run_payouts, body=seen.body, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"/dashboard/payouts/runs/{answer.data['runId']}")
    run = _planned()
    if answer.refusal.code == _MOVED:
        return _shown(run, _moved(seen, run), status=answer.status)
    return _shown(run, forms.wrong({}, answer.refusal.message), status=answer.status)


def _check_may_pay() -> None:
    if not calls.may(run_payouts):
        raise Refused(403)


def _planned() -> PlannedRun:
    return planned.planned(calls.needed(preview_payouts, body={"listConversions": False, "listMethods": True}))


def _wrong(run: PlannedRun, seen: ConfirmedFigures | None) -> FormState:
    if seen is None or planned.changes(seen, run.figures):
        return _moved(seen, run)
    return forms.wrong({"total": f"That is not the total. Type {wording.money(run.total, CURRENCY)}."})


def _moved(seen: ConfirmedFigures | None, run: PlannedRun) -> FormState:
    """Return the form with what moved since it was shown; one types the new total."""
    moved = planned.changes(seen, run.figures) if seen else []
    said = f"The figures changed while you looked at them, and nothing was paid. {'; '.join(moved)}".rstrip()
    ask = f"Look at them again, then type {wording.money(run.total, CURRENCY)}."
    return forms.wrong({"total": ask} if run.count else {}, said)


def _came_back(typed: FormState, run: PlannedRun) -> FormState:
    """Return what was typed before a new login, with what moved meanwhile."""
    seen = planned.confirmed(typed.value("figures"))
    moved = planned.changes(seen, run.figures) if seen else []
    said = f"The figures changed while you logged in. {'; '.join(moved)}" if moved else None
    return FormState({"total": [typed.value("total")]}, alert=said)


def _shown(run: PlannedRun, form: FormState, *, status: int = 200) -> Response:
    funding: Mapping[str, Any] = calls.needed(get_funding_status)
    template = "brand/payouts/confirm.html"
    return screens.show(template, status=status, form=form, run=run, funding=funding, back=_NEW, here_post=_CONFIRM)
