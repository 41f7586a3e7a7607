"""One deal: offered and answered, charged into escrow, and each milestone submitted, released or disputed."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import get_affiliate
from api.deals.deals import cancel_deal, get_deal, offer_deal
from api.deals.reviews import approve_milestone, dispute_milestone, fund_deal, request_milestone_changes
from domain.refused import Refused
from pages import calls, forms, kept, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("deal_page", __name__)

_HERE = "/dashboard/deals/<deal_id>"
_USES = (
    approve_milestone,
    cancel_deal,
    dispute_milestone,
    fund_deal,
    get_affiliate,
    get_deal,
    offer_deal,
    request_milestone_changes,
)
_ACTS = {"offer": offer_deal, "cancel": cancel_deal, "fund": fund_deal}
_DONE = ("made", *_ACTS, "approve", "changes", "dispute")


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_deal(deal_id: str) -> Response:
    """Show a deal with its milestones. Budget: 4 round trips, however many there are."""
    kept.form()  # a charge that wanted a new login is asked for by its button, once more
    return _shown(deal_id)


@blueprint.post(f"{_HERE}/act")
@screen("member", uses=_USES)
def act_on_deal(deal_id: str) -> Response:
    """Offer, withdraw or fund a deal, as the button says."""
    act = request.form.get("act", "")
    if act not in _ACTS:
        raise Refused(404, "not_found", "There is no such act.")
    return _answered(deal_id, calls.tried(_ACTS[act], path={"deal_id": deal_id}, body={}, key=forms.key()), act)


@blueprint.post(f"{_HERE}/milestones/<seq>/approve")
@screen("member", uses=_USES)
def approve_part(deal_id: str, seq: str) -> Response:
    """Release a milestone that was submitted."""
    answer = calls.tried(approve_milestone, path={"deal_id": deal_id, "seq": seq}, body={}, key=forms.key())
    return _answered(deal_id, answer, "approve")


@blueprint.post(f"{_HERE}/milestones/<seq>/changes")
@screen("member", uses=_USES)
def ask_for_changes(deal_id: str, seq: str) -> Response:
    """Send a milestone back with what is to be changed."""
    body = {"note": request.form.get("note", "")}
    answer = calls.tried(request_milestone_changes, path={"deal_id": deal_id, "seq": seq}, body=body, key=forms.key())
    return _answered(deal_id, answer, "changes", f"part{seq}-")


@blueprint.post(f"{_HERE}/milestones/<seq>/dispute")
@screen("member", uses=_USES)
def dispute_part(deal_id: str, seq: str) -> Response:
    """Open a dispute about a milestone, which the operator settles."""
    body = {name: request.form.get(name, "") for name in ("reason", "proposedResolution")}
    answer = calls.tried(dispute_milestone, path={"deal_id": deal_id, "seq": seq}, body=body, key=forms.key())
    return _answered(deal_id, answer, "dispute", f"part{seq}-")


def _answered(deal_id: str, answer: calls.CallAnswer, done: str, form_id: str = "") -> Response:
    if answer.refusal:
        return _shown(deal_id, answer.status, forms.refused(answer.refusal, form_id=form_id))
    return screens.sent_on(f"/dashboard/deals/{deal_id}?done={done}")


def _shown(deal_id: str, status: int = 200, form: FormState = forms.EMPTY) -> Response:
    deal = calls.needed(get_deal, path={"deal_id": deal_id})
    whom = calls.call(get_affiliate, path={"affiliate_id": deal["affiliateId"]})
    done = request.args.get("done")
    return screens.show(
        "brand/deal.html",
        status=status,
        form=form,
        here=f"/dashboard/deals/{deal['id']}",
        deal=deal,
        whom=None if whom.refusal else whom.data["fullName"] or whom.data["email"],
        parts={str(one["seq"]): forms.blank(f"part{one['seq']}-") for one in deal["milestones"]}
        | ({form.id.removeprefix("part").rstrip("-"): form} if form.id else {}),
        done=done if done in _DONE else None,
        may_decide=calls.may(offer_deal),
        may_fund=calls.may(fund_deal),
    )
