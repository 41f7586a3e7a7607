"""Makes what events tell of: a sale, a refund, an application, a payout, through the pipelines that serve the API.

Applications, coupons and deals are in rooms of their own. Nobody real is paid for any of it (`scenes`).
"""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from adapters import clock
from commands.rehearsal import applications, coupons, deals, scenes
from commands.rehearsal.scenes import Scene
from domain.clicks.raw_click import RawClick
from domain.conversions.review import Action
from domain.payouts.confirmation import RunFilters, RunRequest
from domain.refusals import Refused
from models import db, ids
from models.organization import rehearsals
from models.organization.rehearsals import Partner
from pipelines.clicks import clicks
from pipelines.conversions import acceptance, refund, review
from pipelines.organization import tenancy
from pipelines.payouts import decisions, run
from pipelines.programs import lifecycle
from schemas.conversions.sale import SaleBody
from schemas.programs.program import ProgramBody

_AMOUNT_CENTS = 10_000
_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_WHY = "Made by flask trigger."


@dataclass(frozen=True, slots=True)
class _Sold:
    conversion_id: UUID
    external_event_id: str


def _created(scene: Scene) -> UUID:
    return _sell(scene, scenes.seller(scene), is_test=scene.is_for_test).conversion_id


def _refunded(scene: Scene) -> UUID:
    sold = _sell(scene, scenes.seller(scene), is_test=scene.is_for_test)
    with db.unit_of_work(scene.id):
        refund.refund_by_external_id(
            organization_id=scene.id,
            external_event_id=sold.external_event_id,
            requested_cents=_AMOUNT_CENTS // 4,
            now=clock.now(),
        )
    return sold.conversion_id


def _decided(*actions: Action) -> Callable[[Scene], UUID]:
    def make(scene: Scene) -> UUID:
        sold = _sell(scene, scenes.seller(scene), is_test=scene.is_for_test)
        for action in actions:
            _decide(scene, sold.conversion_id, action)
        return sold.conversion_id

    return make


def _adjusted(scene: Scene) -> UUID:
    """Let two people follow one link within the hour: their clicks are paid by one conversion, which grows."""
    scenes.only_in_the_sandbox(scene, "Clicks are paid for")
    partner, at = _clicked(scene), clock.now()
    for _ in range(2):
        click = _click(scene, partner, at)
        with db.unit_of_work(scene.id):
            clicks.write([click], clock.now())
    with db.unit_of_work(scene.id):
        found = rehearsals.find_conversion_of_click(organization_id=scene.id, click_id=UUID(click.id))
    if found is None:
        raise Refused(409, "", "The click earned nothing: the budget is used up, or the fraud rules kept it.")
    return found


def _joined(scene: Scene) -> UUID:
    return scenes.join(scene, scenes.seller(scene).program_id, is_test=scene.is_for_test)


def _paid_out(scene: Scene) -> UUID:
    return _pay(scene, is_for_review=False)[1]


def _failed_payout(scene: Scene) -> UUID:
    """Let an operator look at a run and reject it; nothing is sent."""
    run_id, payout_id = _pay(scene, is_for_review=True)
    with db.unit_of_work(scene.id):
        decisions.decide_review(organization_id=scene.id, run_id=run_id, is_approved=False, now=clock.now())
    return payout_id


#: How to make each event that can be made: returns the id of what it is about. Raises Refused.
MAKERS: Mapping[str, Callable[[Scene], UUID]] = MappingProxyType(
    {
        "conversion.created": _created,
        "conversion.refunded": _refunded,
        "conversion.approved": _decided(Action.approve),
        "conversion.denied": _decided(Action.deny),
        "conversion.validated": _decided(Action.invalidate, Action.validate),
        "conversion.invalidated": _decided(Action.invalidate),
        "conversion.adjusted": _adjusted,
        "payout.created": _paid_out,
        "payout.paid": _paid_out,
        "payout.failed": _failed_payout,
        "affiliate.created": _joined,
        "affiliate.approved": _joined,
        **applications.MAKERS,
        **coupons.MAKERS,
        **deals.MAKERS,
    }
)


def _sell(scene: Scene, partner: Partner, *, is_test: bool) -> _Sold:
    external_event_id = f"trigger-{secrets.token_hex(6)}"
    sent = {
        "externalEventId": external_event_id,
        "affiliateSlug": partner.slug,
        "amountCents": _AMOUNT_CENTS,
        "currency": "USD",
    }
    with db.unit_of_work(scene.id):
        receipt = acceptance.accept_sale(
            organization_id=scene.id,
            body=SaleBody().load(sent),
            is_test=is_test,
            now=clock.now(),
        )
    if receipt.conversion_id is None:
        raise receipt.refusal or Refused(409, "", "The sale was not credited.")
    return _Sold(receipt.conversion_id, external_event_id)


def _decide(scene: Scene, conversion_id: UUID, action: Action) -> None:
    with db.unit_of_work(scene.id):
        subject = review.lock(organization_id=scene.id, conversion_id=conversion_id, now=clock.now())
        review.decide(subject, action=action, reason=_WHY, now=clock.now())


def _pay(scene: Scene, *, is_for_review: bool) -> tuple[UUID, UUID]:
    """Pay one new affiliate for one sale in the sandbox; return the run and the payout."""
    scenes.only_in_the_sandbox(scene, "Payouts are made")
    program_id = scenes.seller(scene).program_id
    affiliate_id = scenes.payee(scene, program_id)
    with db.any_org_work():
        slug = rehearsals.find_slug(organization_id=scene.id, affiliate_id=affiliate_id)
    sold = _sell(scene, Partner(program_id, affiliate_id, slug), is_test=False)
    _decide(scene, sold.conversion_id, Action.approve)
    with db.unit_of_work(scene.id), _reviewed(scene, is_for_review):
        receipt = run.create(organization_id=scene.id, request=_request(affiliate_id), now=clock.now())
    return receipt.run.id, receipt.payouts[0].payout_id


def _request(affiliate_id: UUID) -> RunRequest:
    return RunRequest(
        filters=RunFilters(affiliate_ids=(affiliate_id,)),
        notes=_WHY,
        shown_filters={"affiliateIds": [str(affiliate_id)]},
    )


@contextmanager
def _reviewed(scene: Scene, is_wanted: bool) -> Iterator[None]:
    """Let the run of this transaction wait for a review; nobody else sees that it was asked for."""
    if is_wanted:
        _set(scene, needsReview="on")
    yield
    if is_wanted:
        _set(scene, needsReview="on" if scene.organization.payouts_need_review else "off")


def _set(scene: Scene, **assignments: str) -> None:
    tenancy.change(organization_id=scene.id, assignments=assignments, now=clock.now())


def _clicked(scene: Scene) -> Partner:
    """Return an affiliate of our own whose clicks are paid for, in a campaign that is made for it the first time."""
    with db.unit_of_work(scene.id):
        found = rehearsals.find_click_partner(scene.id)
        if found is not None:
            return found
        terms = {
            "name": "Clicks to rehearse with",
            "defaultCommissionType": "Percentage",
            "defaultCommissionValue": 20,
            "defaultCommissionModel": "Cps",
            "clickRewardCents": 10,
        }
        made = lifecycle.create(organization_id=scene.id, body=ProgramBody().load(terms), now=clock.now())
    scenes.join(scene, made.id, is_test=False)
    return _clicked(scene)


def _click(scene: Scene, partner: Partner, at: datetime) -> RawClick:
    return RawClick(
        id=str(ids.new_id()),
        organization_id=str(scene.id),
        program_id=str(partner.program_id),
        affiliate_id=str(partner.affiliate_id),
        slug=partner.slug,
        sub_id=None,
        occurred_at=at.isoformat(),
        visitor=secrets.token_hex(16),
        network=secrets.token_hex(16),
        agent=_AGENT,
        languages=("en-GB", "en"),
    )
