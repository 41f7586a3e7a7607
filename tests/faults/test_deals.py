"""The fleet that moves a deal's money is killed at every point: the processor has each payment exactly once."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from adapters import clock
from adapters.identity import tokens
from domain.deals.states import Side
from models import db
from pipelines.deals import dispute, money, offer, submission
from tests.adapters.rails.fake_processor import FakeProcessor
from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.payroll import Payroll

_DEALS = 4
_CENTS, _REFUND_CENTS = 2_000, 500
_STATEMENT = {"reason": "It is not what we agreed on.", "proposed_resolution": "A part of it."}


class Deals:
    """Four accepted deals of one shop, each with its own affiliate; the brand is a customer of the processor."""

    def __init__(self, machine: Machine, shop: Shop) -> None:
        self.machine, self.shop = machine, shop
        shop.subscribe()
        with machine.use_models():
            payroll = Payroll(shop.brand)
            payroll.execute(
                "update organization set verification_state = 'verified', deal_funding_source = 'cus_1/pm_1'"
            )
            self.ids = [self._create_accepted(payroll.affiliate(f"creator{n}")) for n in range(_DEALS)]
        self.token = tokens.issue_dashboard(
            organization_id=shop.id, role="Owner", email="owner@example.com", is_email_verified=True, ttl_s=600
        )

    def _create_accepted(self, affiliate_id: UUID) -> UUID:
        brand, now = self.shop.brand, clock.now()
        body = {
            "program_id": brand.programs[-1],
            "affiliate_id": affiliate_id,
            "title": "Video",
            "currency": "USD",
            "milestones": [{"title": "All of it", "amount_cents": _CENTS, "due_at": None}],
        }
        with db.unit_of_work(brand.id):
            deal_id = offer.create(organization_id=brand.id, body=body, is_test=False, now=now)
        for act in (offer.make_offer, offer.accept):
            self.for_each_deal(lambda deal, act=act: act(deal, now=now), only=[deal_id])  # type: ignore[misc]
        return deal_id

    def for_each_deal(self, act: Callable[[Any], object], *, only: list[UUID] | None = None) -> None:
        """Call `act` for every deal, under the locks of its money; needs `use_models`."""
        for deal_id in only or self.ids:
            with db.unit_of_work(self.shop.id):
                act(money.lock_for_payment_request(organization_id=self.shop.id, deal_id=deal_id))

    def post(self, verb: str) -> None:
        """Post an action on every deal over HTTP, as the Owner."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        for deal_id in self.ids:
            answer = self.shop.send_once(f"/api/v1/deals/{deal_id}/{verb}", b"", headers)
            assert answer is not None
            assert answer[0] == 200, answer

    def fund(self) -> None:
        """Request the charge of every deal."""
        self.post("fund")

    def approve(self) -> None:
        """Submit and approve the milestone of every deal, which must be funded."""
        with self.machine.use_models():
            self.for_each_deal(
                lambda deal: submission.submit_milestone(deal, 1, urls=["https://a.example"], now=clock.now())
            )
        self.post("milestones/1/approve")

    def settle(self) -> None:
        """Settle a dispute about every deal: a part is refunded, the rest is paid."""
        with self.machine.use_models():
            self.for_each_deal(
                lambda deal: dispute.open_dispute(deal, 1, side=Side.brand, statement=_STATEMENT, now=clock.now())
            )
            self.for_each_deal(self._settle)

    def _settle(self, deal: Any) -> None:
        milestone = submission.find(deal, 1)
        dispute.settle(deal, milestone.id, to_affiliate_cents=_CENTS - _REFUND_CENTS, now=clock.now())

    def amounts_by_method(self, processor: FakeProcessor) -> dict[str, list[str]]:
        """Return the amounts of the processor's payments by method; assert that each idempotency key occurs once."""
        keys = [payment.key for payment in processor.books]
        assert len(set(keys)) == len(keys)
        amounts: dict[str, list[str]] = {}
        for payment in processor.books:
            amounts.setdefault(payment.method, []).append(payment.amount)
        return amounts


def _kill_fleet_around(
    machine: Machine, processor: FakeProcessor, act: Callable[[], None], *, first_row: str, locking: str
) -> None:
    """Call `act`, which moves money of four deals, and kill the fleet in the middle.

    The first is not begun; of the others the processor has received one and not executed it, has executed one and not
    responded, and has responded to one, whose result is not stored yet.
    """
    payments_before = len(processor.books)
    processor.set_faults("hang_before", "hang_after")
    with ExitStack() as locks:
        with machine.pause_queue("payouts"):
            act()
            ((first,),) = machine.rows(first_row)
            locks.enter_context(machine.hold_locks(*(line.format(first=first) for line in locking.split(";"))))
        machine.wait_for_lock_waiters(2)
        machine.wait_until(
            lambda: len(processor.books) >= payments_before + 2 and not processor.faults,
            "the processor has received three requests",
        )
        machine.kill("payouts")
    processor.set_faults("500_after")
    machine.start("payouts")


_FIRST_REQUEST = "select id from deal_request where organization_id = '{org}' and kind = '{kind}' order by id limit 1"


def test_kill_9_around_a_charge_charges_every_deal_once(machine: Machine, shop: Shop, processor: FakeProcessor) -> None:
    deals = Deals(machine, shop)

    _kill_fleet_around(
        machine,
        processor,
        deals.fund,
        first_row=_FIRST_REQUEST.format(org=shop.id, kind="charge"),
        locking="select from deal_request where id = '{first}' for update;"
        f"select from deal_milestone where organization_id = '{shop.id}' for update",
    )

    outcome.check(machine, shop)
    assert deals.amounts_by_method(processor) == {"Charge": [str(_CENTS)] * _DEALS}
    rows = machine.rows("select status, escrow_cents from deal where organization_id = %s", shop.id)
    assert rows == [("Funded", _CENTS)] * _DEALS
    event_counts = machine.rows(
        "select count(*) from event where organization_id = %s and type = 'deal.funded'", shop.id
    )
    assert event_counts == [(_DEALS,)]


def test_kill_9_around_a_release_pays_every_milestone_once(
    machine: Machine, shop: Shop, processor: FakeProcessor
) -> None:
    deals = Deals(machine, shop)
    deals.fund()
    machine.wait_until_settled()

    _kill_fleet_around(
        machine,
        processor,
        deals.approve,
        first_row=f"select id from payout where organization_id = '{shop.id}' order by id limit 1",
        locking="select from payout where id = '{first}' for update;"
        f"select from deal where organization_id = '{shop.id}' for update",
    )

    outcome.check(machine, shop)
    _assert_all_completed(machine, shop, deals, processor, paid=_CENTS)


def test_kill_9_around_a_refund_refunds_once(machine: Machine, shop: Shop, processor: FakeProcessor) -> None:
    # given: every deal is funded; its affiliate will have no payout method, so that only the refund is sent
    deals = Deals(machine, shop)
    deals.fund()
    machine.wait_until_settled()

    def settle() -> None:
        with machine.use_models():
            deals.shop.brand.rows("update affiliate set payout_method = null, payout_destination = null returning 1")
        deals.settle()

    _kill_fleet_around(
        machine,
        processor,
        settle,
        first_row=_FIRST_REQUEST.format(org=shop.id, kind="refund"),
        locking="select from deal_request where id = '{first}' for update;"
        f"select from deal_milestone where organization_id = '{shop.id}' for update",
    )

    outcome.check(machine, shop)
    assert deals.amounts_by_method(processor) == {
        "Charge": [str(_CENTS)] * _DEALS,
        "Refund": [str(_REFUND_CENTS)] * _DEALS,
    }
    rows = machine.rows("select returned_cents, escrow_cents from deal where organization_id = %s", shop.id)
    assert rows == [(_REFUND_CENTS, _CENTS - _REFUND_CENTS)] * _DEALS


def _assert_all_completed(machine: Machine, shop: Shop, deals: Deals, processor: FakeProcessor, *, paid: int) -> None:
    assert deals.amounts_by_method(processor) == {
        "Charge": [str(_CENTS)] * _DEALS,
        "ProcessorConnect": [str(paid)] * _DEALS,
    }
    rows = machine.rows("select status, escrow_cents, paid_cents from deal where organization_id = %s", shop.id)
    assert rows == [("Completed", 0, paid)] * _DEALS
    event_counts = machine.rows(
        "select count(*) from event where organization_id = %s and type = 'milestone.released'", shop.id
    )
    assert event_counts == [(_DEALS,)]
