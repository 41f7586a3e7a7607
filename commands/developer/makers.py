"""Triggers events by real operations: a sale, a refund, a payout, through the pipelines that serve the API.

Coupons and deals have modules of their own. No real money is paid for any of it (`targets`).
"""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from adapters import clock
from commands.developer import coupons, deals, targets
from commands.developer.targets import TriggerTarget
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
from pipelines.storefront import applications, second_step
from schemas.conversions.sale import SaleBody
from schemas.programs.program import ProgramBody
from schemas.storefront.application import ApplicationBody

_AMOUNT_CENTS = 10_000
_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_WHY = "Made by flask trigger."
_SECOND_STEP_KEY = "reach"
_PROGRAM_WITH_TWO_STEPS = {
    "name": "Applications for flask trigger",
    "defaultCommissionType": "Percentage",
    "defaultCommissionValue": 20,
    "isPubliclyDiscoverable": False,
    "applicationForm": {
        "steps": 2,
        "fields": [
            {"key": _SECOND_STEP_KEY, "step": 2, "label": "How many read you?", "type": "number", "required": True}
        ],
    },
}


@dataclass(frozen=True, slots=True)
class _Sale:
    conversion_id: UUID
    external_event_id: str


def _create_conversion(target: TriggerTarget) -> UUID:
    return _sell(target, targets.find_seller(target), is_test=target.is_for_test).conversion_id


def _refund_conversion(target: TriggerTarget) -> UUID:
    sold = _sell(target, targets.find_seller(target), is_test=target.is_for_test)
    with db.unit_of_work(target.id):
        refund.refund_by_external_id(
            organization_id=target.id,
            external_event_id=sold.external_event_id,
            requested_cents=_AMOUNT_CENTS // 4,
            now=clock.now(),
        )
    return sold.conversion_id


def _decision_maker(*actions: Action) -> Callable[[TriggerTarget], UUID]:
    def make(target: TriggerTarget) -> UUID:
        sold = _sell(target, targets.find_seller(target), is_test=target.is_for_test)
        for action in actions:
            _decide(target, sold.conversion_id, action)
        return sold.conversion_id

    return make


def _adjust_conversion(target: TriggerTarget) -> UUID:
    """Write two clicks on one link within the hour: one conversion rewards both, and the second click adjusts it."""
    targets.require_sandbox(target, "Clicks would earn real money")
    partner, at = _click_partner(target), clock.now()
    for _ in range(2):
        click = _build_click(target, partner, at)
        with db.unit_of_work(target.id):
            clicks.write([click], clock.now())
    with db.unit_of_work(target.id):
        conversion_id = rehearsals.find_conversion_of_click(organization_id=target.id, click_id=UUID(click.id))
    if conversion_id is None:
        raise Refused(409, "", "The click earned nothing: the budget is used up, or the fraud rules held it.")
    return conversion_id


def _join_affiliate(target: TriggerTarget) -> UUID:
    return targets.add_affiliate(target, targets.find_seller(target).program_id, is_test=target.is_for_test)


def _complete_application(target: TriggerTarget) -> UUID:
    """Apply as a test affiliate and submit the second step of the form; the application is never approved."""
    targets.require_sandbox(target, "Applicants could be approved and paid real money")
    with db.unit_of_work(target.id):
        program_id = rehearsals.find_program_with_question(target.id, key=_SECOND_STEP_KEY)
        if program_id is None:
            program = lifecycle.create(
                organization_id=target.id, body=ProgramBody().load(_PROGRAM_WITH_TWO_STEPS), now=clock.now()
            )
            program_id = program.id
    body = {
        "email": f"{rehearsals.EMAIL_PREFIX}{secrets.token_hex(6)}@example.com",
        "fullName": "Made by flask trigger",
    }
    with db.unit_of_work(target.id):
        filed = applications.apply(
            organization_id=target.id,
            program_id=program_id,
            application=ApplicationBody().load(body),
            now=clock.now(),
        )
    with db.unit_of_work(target.id):
        step = second_step.lock(organization_id=target.id, affiliate_id=filed.affiliate_id)
        second_step.submit(step, {_SECOND_STEP_KEY: 4_000}, now=clock.now())
    return filed.affiliate_id


def _pay_affiliate(target: TriggerTarget) -> UUID:
    return _pay(target, is_for_review=False)[1]


def _fail_payout(target: TriggerTarget) -> UUID:
    """Hold a run for review and reject it; nothing is sent."""
    run_id, payout_id = _pay(target, is_for_review=True)
    with db.unit_of_work(target.id):
        decisions.decide_review(organization_id=target.id, run_id=run_id, is_approved=False, now=clock.now())
    return payout_id


#: Function that triggers each event and returns the id of its subject. Raises Refused.
MAKERS: Mapping[str, Callable[[TriggerTarget], UUID]] = MappingProxyType(
    {
        "conversion.created": _create_conversion,
        "conversion.refunded": _refund_conversion,
        "conversion.approved": _decision_maker(Action.approve),
        "conversion.denied": _decision_maker(Action.deny),
        "conversion.validated": _decision_maker(Action.invalidate, Action.validate),
        "conversion.invalidated": _decision_maker(Action.invalidate),
        "conversion.adjusted": _adjust_conversion,
        "payout.created": _pay_affiliate,
        "payout.paid": _pay_affiliate,
        "payout.failed": _fail_payout,
        "affiliate.created": _join_affiliate,
        "affiliate.approved": _join_affiliate,
        "affiliate.application_completed": _complete_application,
        **coupons.MAKERS,
        **deals.MAKERS,
    }
)


def _sell(target: TriggerTarget, partner: Partner, *, is_test: bool) -> _Sale:
    external_event_id = f"trigger-{secrets.token_hex(6)}"
    body = {
        "externalEventId": external_event_id,
        "affiliateSlug": partner.slug,
        "amountCents": _AMOUNT_CENTS,
        "currency": "USD",
    }
    with db.unit_of_work(target.id):
        receipt = acceptance.accept_sale(
            organization_id=target.id,
            body=SaleBody().load(body),
            is_test=is_test,
            now=clock.now(),
        )
    if receipt.conversion_id is None:
        raise receipt.refusal or Refused(409, "", "The sale was not credited.")
    return _Sale(receipt.conversion_id, external_event_id)


def _decide(target: TriggerTarget, conversion_id: UUID, action: Action) -> None:
    with db.unit_of_work(target.id):
        subject = review.lock(organization_id=target.id, conversion_id=conversion_id, now=clock.now())
        review.decide(subject, action=action, reason=_WHY, now=clock.now())


def _pay(target: TriggerTarget, *, is_for_review: bool) -> tuple[UUID, UUID]:
    """Pay one new affiliate for one sale in the sandbox; return the run and the payout."""
    targets.require_sandbox(target, "Payouts would move real money")
    program_id = targets.find_seller(target).program_id
    affiliate_id = targets.add_payable_affiliate(target, program_id)
    with db.any_org_work():
        slug = rehearsals.find_slug(organization_id=target.id, affiliate_id=affiliate_id)
    sold = _sell(target, Partner(program_id, affiliate_id, slug), is_test=False)
    _decide(target, sold.conversion_id, Action.approve)
    with db.unit_of_work(target.id), _held_for_review(target, is_for_review):
        receipt = run.create(organization_id=target.id, request=_build_request(affiliate_id), now=clock.now())
    return receipt.run.id, receipt.payouts[0].payout_id


def _build_request(affiliate_id: UUID) -> RunRequest:
    return RunRequest(
        filters=RunFilters(affiliate_ids=(affiliate_id,)),
        notes=_WHY,
        shown_filters={"affiliateIds": [str(affiliate_id)]},
    )


@contextmanager
def _held_for_review(target: TriggerTarget, is_held: bool) -> Iterator[None]:
    """Make the run of this transaction wait for review; the setting is reset before the commit."""
    if is_held:
        _change_settings(target, needsReview="on")
    yield
    if is_held:
        _change_settings(target, needsReview="on" if target.organization.payouts_need_review else "off")


def _change_settings(target: TriggerTarget, **assignments: str) -> None:
    tenancy.change(organization_id=target.id, assignments=assignments, now=clock.now())


def _click_partner(target: TriggerTarget) -> Partner:
    """Return a test affiliate whose clicks are rewarded; the first call creates a campaign for it."""
    with db.unit_of_work(target.id):
        partner = rehearsals.find_click_partner(target.id)
        if partner is not None:
            return partner
        terms = {
            "name": "Clicks for flask trigger",
            "defaultCommissionType": "Percentage",
            "defaultCommissionValue": 20,
            "defaultCommissionModel": "Cps",
            "clickRewardCents": 10,
        }
        program = lifecycle.create(organization_id=target.id, body=ProgramBody().load(terms), now=clock.now())
    targets.add_affiliate(target, program.id, is_test=False)
    return _click_partner(target)


def _build_click(target: TriggerTarget, partner: Partner, at: datetime) -> RawClick:
    return RawClick(
        id=str(ids.new_id()),
        organization_id=str(target.id),
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
