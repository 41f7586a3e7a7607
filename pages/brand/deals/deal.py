"""One deal: offered and answered, charged into escrow, and each milestone submitted, released or disputed."""

from flask import Blueprint, Response, request

from api.affiliates.affiliates import get_affiliate
from api.deals.deals import cancel_deal, get_deal, offer_deal
from api.deals.reviews import approve_milestone, dispute_milestone, fund_deal, request_milestone_changes
from domain.refusals import Refused
from pages import api_client, forms, screens
from pages.form_pages import CustomForm, Form, form_page, read_texts, send_form
from pages.forms import FormState

blueprint = Blueprint("deal_page", __name__)

_HERE = "/dashboard/deals/<deal_id>"
_ACTS = {"offer": offer_deal, "cancel": cancel_deal, "fund": fund_deal}


def _act_on_deal(deal_id: str) -> Response | FormState:
    """Offer, withdraw or fund a deal, by the button that was pressed."""
    act = request.form.get("act", "")
    if act not in _ACTS:
        raise Refused(404, "not_found", "There is no such action.")
    return send_form(_ACTS[act], path={"deal_id": deal_id}, to=f"/dashboard/deals/{{deal_id}}?done={act}")


_PART = "/milestones/<seq>"
_DISPUTE = read_texts("reason", "proposedResolution")
_FORMS = (
    CustomForm("/act", _act_on_deal, tuple(_ACTS.values())),
    Form(f"{_PART}/approve", approve_milestone, done="approve"),
    Form(f"{_PART}/changes", request_milestone_changes, read_texts("note"), id="part{seq}-", done="changes"),
    Form(f"{_PART}/dispute", dispute_milestone, _DISPUTE, id="part{seq}-", done="dispute"),
)


# Only the charge requires a fresh login; its button is pressed again after it.
@form_page(blueprint, "member", _HERE, *_FORMS, uses=(get_affiliate, get_deal), restores=True)
def show_deal(form: FormState | None, deal_id: str) -> Response:
    """Show a deal with its milestones. Budget: 4 round trips, however many there are."""
    deal = api_client.require(get_deal, path={"deal_id": deal_id})
    affiliate = api_client.call(get_affiliate, path={"affiliate_id": deal["affiliateId"]})
    parts = {str(part["seq"]): forms.prefill(f"part{part['seq']}-") for part in deal["milestones"]}
    if form and form.id:
        parts[form.id.removeprefix("part").rstrip("-")] = form
    return screens.render(
        "brand/deal.html",
        form,
        deal=deal,
        whom=None if affiliate.refusal else affiliate.data["fullName"] or affiliate.data["email"],
        parts=parts,
    )
