"""Deals that brands offered an affiliate: accepted, declined, their milestones handed in or disputed."""

from flask import Blueprint, Response, request

from api.deals.creator import (
    accept_deal,
    decline_deal,
    dispute_own_milestone,
    get_own_deal,
    list_own_deals,
    submit_milestone,
)
from pages import calls, forms, screens
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_deals_page", __name__)

_HERE = "/portal/deals"
_USES = (
    *frame.USES,
    list_own_deals,
    get_own_deal,
    accept_deal,
    decline_deal,
    submit_milestone,
    dispute_own_milestone,
)


@blueprint.get(_HERE)
@screen("account", uses=_USES)
def show_own_deals() -> Response:
    """Show deals, newest first, with their milestones. Budget: 2 round trips, however many there are."""
    return _shown(forms.EMPTY)


@blueprint.post(f"{_HERE}/<deal_id>/accept")
@screen("account", uses=_USES)
def accept_own_deal(deal_id: str) -> Response:
    """Accept an offered deal."""
    return _done(calls.tried(accept_deal, path={"deal_id": deal_id}, body={}, key=forms.key()))


@blueprint.post(f"{_HERE}/<deal_id>/decline")
@screen("account", uses=_USES)
def decline_own_deal(deal_id: str) -> Response:
    """Decline an offered deal."""
    return _done(calls.tried(decline_deal, path={"deal_id": deal_id}, body={}, key=forms.key()))


@blueprint.post(f"{_HERE}/<deal_id>/milestones/<seq>/submit")
@screen("account", uses=_USES)
def submit_own_milestone(deal_id: str, seq: str) -> Response:
    """Hand in a milestone: an address on each line."""
    calls.needed(get_own_deal, path={"deal_id": deal_id})
    urls = [line.strip() for line in request.form.get("urls", "").splitlines() if line.strip()]
    path = {"deal_id": deal_id, "seq": seq}
    answer = calls.tried(submit_milestone, path=path, body={"urls": urls}, key=forms.key())
    return _done(answer, form_id=f"{deal_id}-{seq}-")


@blueprint.post(f"{_HERE}/<deal_id>/milestones/<seq>/dispute")
@screen("account", uses=_USES)
def dispute_own_part(deal_id: str, seq: str) -> Response:
    """Open a dispute about a milestone, which the operator settles."""
    calls.needed(get_own_deal, path={"deal_id": deal_id})
    body = {"reason": request.form.get("reason", ""), "proposedResolution": request.form.get("proposedResolution", "")}
    path = {"deal_id": deal_id, "seq": seq}
    answer = calls.tried(dispute_own_milestone, path=path, body=body, key=forms.key())
    return _done(answer, form_id=f"{deal_id}-{seq}-dispute-")


def _done(answer: CallAnswer, *, form_id: str = "") -> Response:
    if answer.refusal is None:
        return screens.sent_on(_HERE)
    return _shown(forms.refused(answer.refusal, form_id=form_id), status=frame.status(answer))


def _shown(form: FormState, *, status: int = 200) -> Response:
    page = calls.needed(list_own_deals, query={"cursor": request.args.get("cursor") or None})
    return frame.show(
        "deals.html",
        status=status,
        form=form,
        here=_HERE,
        deals=page["items"],
        next_cursor=page["nextCursor"],
        blank=forms.blank,
    )
