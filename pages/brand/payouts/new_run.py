"""A new run: its payees, its unpaid affiliates, and its confirmation by typing the total.

The form contains the figures that were shown, and the API pays only if they are still current.
"""

from dataclasses import replace

from flask import Blueprint, Response, request

from api.payouts.payouts import get_funding_status, list_payout_holds
from api.payouts.runs import preview_payouts, run_payouts
from domain.money import wording
from domain.refusals import Refused
from pages import api_client, forms, screens
from pages.brand.payouts import run_preview
from pages.brand.payouts.run_preview import CURRENCY, ConfirmedFigures, RunPreview
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("new_payout_run_page", __name__)

_NEW, _CONFIRM = "/dashboard/payouts/new", "/dashboard/payouts/new/confirm"
_CHANGED_CODE = "confirm_total_mismatch"


@blueprint.get(_NEW)
@screen("member", uses=(preview_payouts, run_payouts, get_funding_status, list_payout_holds))
def show_new_run() -> Response:
    """Show the run as it would be paid now. Budget: 10 round trips, however much is due."""
    funding = api_client.require(get_funding_status)
    return screens.render(
        "brand/payouts/new_run.html",
        run=_preview_run() if api_client.is_allowed(preview_payouts) else None,
        funding=funding,
        holds=api_client.require(list_payout_holds),
        can_pay=api_client.is_allowed(run_payouts) and funding["payoutsAllowed"],
        next=_CONFIRM,
    )


def _check_may_pay() -> None:
    if not api_client.is_allowed(run_payouts):
        raise Refused(403)


def _preview_run() -> RunPreview:
    return run_preview.read_preview(
        api_client.require(preview_payouts, body={"listConversions": False, "listMethods": True})
    )


def _form_with_wrong_total(run: RunPreview, seen: ConfirmedFigures | None) -> FormState:
    if seen is None or run_preview.describe_changes(seen, run.figures):
        return _form_with_changes(seen, run)
    return forms.form_with_errors(
        {"total": f"This is not the total. Type {wording.format_money(run.total, CURRENCY)}."}
    )


def _form_with_changes(seen: ConfirmedFigures | None, run: RunPreview) -> FormState:
    """Return the form with the changes since it was shown; the user types the new total."""
    moved = run_preview.describe_changes(seen, run.figures) if seen else []
    alert = f"The amounts changed since you opened this page, and nothing was paid. {'; '.join(moved)}".rstrip()
    ask = f"Check the new amounts, then type {wording.format_money(run.total, CURRENCY)}."
    return forms.form_with_errors({"total": ask} if run.count else {}, alert)


def _restore_form(typed: FormState, run: RunPreview) -> FormState:
    """Return the form typed before a fresh login, with the changes since then."""
    seen = run_preview.parse_figures(typed.value("figures"))
    moved = run_preview.describe_changes(seen, run.figures) if seen else []
    alert = f"The amounts changed while you signed in. {'; '.join(moved)}" if moved else None
    return FormState({"total": [typed.value("total")]}, alert=alert)


def _confirm() -> Response:
    """Pay the run if its total was typed and every figure is still current; else show the new figures."""
    _check_may_pay()
    seen = run_preview.parse_figures(request.form.get("figures", ""))
    if seen is None or run_preview.parse_total(request.form.get("total", "")) != seen.total:
        run = _preview_run()
        return _render_form(_form_with_wrong_total(run, seen), run)
    answer = send(run_payouts, body=seen.body, shows_all=True)
    if answer.refusal is None:
        return screens.redirect(f"/dashboard/payouts/runs/{answer.data['runId']}")
    run = _preview_run()
    if answer.refusal.code == _CHANGED_CODE:
        form = _form_with_changes(seen, run)
    else:
        form = forms.form_with_errors({}, answer.refusal.message)
    return _render_form(replace(form, status=answer.status), run)


@form_page(
    blueprint,
    "member",
    _CONFIRM,
    CustomForm("", _confirm, (run_payouts,)),
    uses=(preview_payouts, get_funding_status),
    restores=True,
)
def show_confirm(form: FormState | None) -> Response:
    """Show the figures to confirm, with the values typed before a fresh login. Budget: 9 round trips."""
    _check_may_pay()
    run = _preview_run()
    return _render_form(_restore_form(form, run) if form else None, run)


def _render_form(form: FormState | None, run: RunPreview) -> Response:
    funding = api_client.require(get_funding_status)
    return screens.render("brand/payouts/confirm.html", form, run=run, funding=funding, back=_NEW, here_post=_CONFIRM)
