"""A new run: what it would pay, to whom and who stays behind; and its confirmation by typing the total.

The form carries the figures that were shown, and the API pays only if they are those of the moment.
"""

from dataclasses import replace

from flask import Blueprint, Response, request

from api.payouts.payouts import get_funding_status, list_payout_holds
from api.payouts.runs import preview_payouts, run_payouts
from domain.money import wording
from domain.refused import Refused
from pages import api_client, forms, screens
from pages.brand.payouts import planned
from pages.brand.payouts.planned import CURRENCY, ConfirmedFigures, PlannedRun
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("new_payout_run_page", __name__)

_NEW, _CONFIRM = "/dashboard/payouts/new", "/dashboard/payouts/new/confirm"
_MOVED = "confirm_total_mismatch"


@blueprint.get(_NEW)
@screen("member", uses=(preview_payouts, run_payouts, get_funding_status, list_payout_holds))
def show_new_run() -> Response:
    """Show what a run would pay now. Budget: 10 round trips, however much is due."""
    funding = api_client.require(get_funding_status)
    return screens.render(
        "brand/payouts/new_run.html",
        run=_plan() if api_client.is_allowed(preview_payouts) else None,
        funding=funding,
        holds=api_client.require(list_payout_holds),
        can_pay=api_client.is_allowed(run_payouts) and funding["payoutsAllowed"],
        next=_CONFIRM,
    )


def _check_may_pay() -> None:
    if not api_client.is_allowed(run_payouts):
        raise Refused(403)


def _plan() -> PlannedRun:
    return planned.planned(api_client.require(preview_payouts, body={"listConversions": False, "listMethods": True}))


def _form_with_wrong_total(run: PlannedRun, seen: ConfirmedFigures | None) -> FormState:
    if seen is None or planned.changes(seen, run.figures):
        return _form_with_changes(seen, run)
    return forms.form_with_errors({"total": f"That is not the total. Type {wording.money(run.total, CURRENCY)}."})


def _form_with_changes(seen: ConfirmedFigures | None, run: PlannedRun) -> FormState:
    """Return the form with what moved since it was shown; one types the new total."""
    moved = planned.changes(seen, run.figures) if seen else []
    alert = f"The figures changed while you looked at them, and nothing was paid. {'; '.join(moved)}".rstrip()
    ask = f"Look at them again, then type {wording.money(run.total, CURRENCY)}."
    return forms.form_with_errors({"total": ask} if run.count else {}, alert)


def _restore_form(typed: FormState, run: PlannedRun) -> FormState:
    """Return what was typed before a new login, with what moved meanwhile."""
    seen = planned.confirmed(typed.value("figures"))
    moved = planned.changes(seen, run.figures) if seen else []
    alert = f"The figures changed while you logged in. {'; '.join(moved)}" if moved else None
    return FormState({"total": [typed.value("total")]}, alert=alert)


def _confirm() -> Response:
    """Pay what was shown, if its total was typed and every figure still holds; show the new figures if not."""
    _check_may_pay()
    seen = planned.confirmed(request.form.get("figures", ""))
    if seen is None or planned.typed_cents(request.form.get("total", "")) != seen.total:
        run = _plan()
        return _show(_form_with_wrong_total(run, seen), run)
    answer = send(run_payouts, body=seen.body, shows_all=True)
    if answer.refusal is None:
        return screens.redirect(f"/dashboard/payouts/runs/{answer.data['runId']}")
    run = _plan()
    if answer.refusal.code == _MOVED:
        form = _form_with_changes(seen, run)
    else:
        form = forms.form_with_errors({}, answer.refusal.message)
    return _show(replace(form, status=answer.status), run)


@form_page(
    blueprint,
    "member",
    _CONFIRM,
    CustomForm("", _confirm, (run_payouts,)),
    uses=(preview_payouts, get_funding_status),
    restores=True,
)
def show_confirm(form: FormState | None) -> Response:
    """Show what is to be confirmed, with what was typed before a new login. Budget: 9 round trips."""
    _check_may_pay()
    run = _plan()
    return _show(_restore_form(form, run) if form else None, run)


def _show(form: FormState | None, run: PlannedRun) -> Response:
    funding = api_client.require(get_funding_status)
    return screens.render("brand/payouts/confirm.html", form, run=run, funding=funding, back=_NEW, here_post=_CONFIRM)
