"""The fleet that moves a deal's money is killed at every point: the processor's own books show everything once."""

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
_CENTS, _BACK = 2_000, 500
_WORDS = {"reason": "It is not what we agreed on.", "proposed_resolution": "A part of it."}


class Deals:
    """Four accepted deals of one shop with an affiliate each, whose brand is a customer of the processor."""

    def __init__(self, machine: Machine, shop: Shop) -> None:
        self.machine, self.shop = machine, shop
        shop.subscribe()
        with machine.use_models():
            payroll = Payroll(shop.brand)
            payroll.execute(
                "update organization set verification_state = 'verified', deal_funding_source = 'cus_1/pm_1'"
            )
            self.ids = [self._accepted(payroll.affiliate(f"creator{n}")) for n in range(_DEALS)]
        self.token = tokens.issue_dashboard(
            organization_id=shop.id, role="Owner", email="owner@example.com", is_email_verified=True, ttl_s=600
        )

    def _accepted(self, affiliate_id: UUID) -> UUID:
        brand, now = self.shop.brand, clock.now()
        wanted = {
            "program_id": brand.programs[-1],
            "affiliate_id": affiliate_id,
            "title": "Video",
            "currency": "USD",
            "milestones": [{"title": "All of it", "amount_cents": _CENTS, "due_at": None}],
        }
        with db.unit_of_work(brand.id):
            deal_id = offer.create(organization_id=brand.id, body=wanted, is_test=False, now=now)
        for act in (offer.make_offer, offer.accept):
            self.each(lambda deal, act=act: act(deal, now=now), only=[deal_id])  # type: ignore[misc]
        return deal_id

    def each(self, act: Callable[[Any], object], *, only: list[UUID] | None = None) -> None:
        """Do something to every deal, behind the locks of its money. Within the machine's own models."""
        for deal_id in only or self.ids:
            with db.unit_of_work(self.shop.id):
                act(money.lock_for_payment_request(organization_id=self.shop.id, deal_id=deal_id))

    def post(self, verb: str) -> None:
        """Let the Owner do something to every deal, over HTTP."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        for deal_id in self.ids:
            answer = self.shop.send_once(f"/api/v1/deals/{deal_id}/{verb}", b"", headers)
            assert answer is not None
            assert answer[0] == 200, answer

    def fund(self) -> None:
        """Ask for every charge."""
        self.post("fund")

    def approve(self) -> None:
        """Have every deal funded, its milestone submitted and approved."""
        with self.machine.use_models():
            self.each(lambda deal: submission.submit_milestone(deal, 1, urls=["https://a.example"], now=clock.now()))
        self.post("milestones/1/approve")

    def settle(self) -> None:
        """Settle a dispute about every deal: a part is given back, the rest is paid."""
        with self.machine.use_models():
            self.each(lambda deal: dispute.open_dispute(deal, 1, side=Side.brand, statement=_WORDS, now=clock.now()))
            self.each(self._settle)

    def _settle(self, deal: Any) -> None:
        milestone = submission.find(deal, 1)
        dispute.settle(deal, milestone.id, to_affiliate_cents=_CENTS - _BACK, now=clock.now())

    def booked(self, service: FakeProcessor) -> dict[str, list[str]]:
        """Return the amounts in the service's books by what they are, each under a key that stands there once."""
        keys = [booked.key for booked in service.books]
        assert len(set(keys)) == len(keys)
        found: dict[str, list[str]] = {}
        for booked in service.books:
            found.setdefault(booked.method, []).append(booked.amount)
        return found


def _kill_fleet_around(
    machine: Machine, service: FakeProcessor, act: Callable[[], None], *, about: str, holding: str
) -> None:
    """Do something to four deals and kill the fleet: one is not begun, one came and was not carried out, one was, and
    the answer of the last is in hand.
    """
    before = len(service.books)
    service.set_faults("hang_before", "hang_after")
    with ExitStack() as held:
        with machine.paused_queue("payouts"):
            act()
            ((first,),) = machine.rows(about)
            held.enter_context(machine.hold_locks(*(line.format(first=first) for line in holding.split(";"))))
        machine.wait_for_lock_waiters(2)
        machine.wait_until(lambda: len(service.books) >= before + 2 and not service.faults, "the service has all three")
        machine.kill("payouts")
    service.set_faults("500_after")
    machine.start("payouts")


_FIRST_REQUEST = "select id from deal_request where organization_id = '{org}' and kind = '{kind}' order by id limit 1"


def test_kill_9_around_a_charge_charges_every_deal_once(machine: Machine, shop: Shop, service: FakeProcessor) -> None:
    deals = Deals(machine, shop)

    _kill_fleet_around(
        machine,
        service,
        deals.fund,
        about=_FIRST_REQUEST.format(org=shop.id, kind="charge"),
        holding="select from deal_request where id = '{first}' for update;"
        f"select from deal_milestone where organization_id = '{shop.id}' for update",
    )

    outcome.check(machine, shop)
    assert deals.booked(service) == {"Charge": [str(_CENTS)] * _DEALS}
    rows = machine.rows("select status, escrow_cents from deal where organization_id = %s", shop.id)
    assert rows == [("Funded", _CENTS)] * _DEALS
    told = machine.rows("select count(*) from event where organization_id = %s and type = 'deal.funded'", shop.id)
    assert told == [(_DEALS,)]


def test_kill_9_around_a_release_pays_every_milestone_once(
    machine: Machine, shop: Shop, service: FakeProcessor
) -> None:
    deals = Deals(machine, shop)
    deals.fund()
    machine.wait_until_settled()

    _kill_fleet_around(
        machine,
        service,
        deals.approve,
        about=f"select id from payout where organization_id = '{shop.id}' order by id limit 1",
        holding="select from payout where id = '{first}' for update;"
        f"select from deal where organization_id = '{shop.id}' for update",
    )

    outcome.check(machine, shop)
    _all_are_over(machine, shop, deals, service, paid=_CENTS)


def test_kill_9_around_a_refund_refunds_once(machine: Machine, shop: Shop, service: FakeProcessor) -> None:
    # given: every deal is disputed, and its affiliate's part was paid already
    deals = Deals(machine, shop)
    deals.fund()
    machine.wait_until_settled()

    def settle() -> None:
        with machine.use_models():
            deals.shop.brand.rows("update affiliate set payout_method = null, payout_destination = null returning 1")
        deals.settle()

    _kill_fleet_around(
        machine,
        service,
        settle,
        about=_FIRST_REQUEST.format(org=shop.id, kind="refund"),
        holding="select from deal_request where id = '{first}' for update;"
        f"select from deal_milestone where organization_id = '{shop.id}' for update",
    )

    outcome.check(machine, shop)
    assert deals.booked(service) == {"Charge": [str(_CENTS)] * _DEALS, "Refund": [str(_BACK)] * _DEALS}
    rows = machine.rows("select returned_cents, escrow_cents from deal where organization_id = %s", shop.id)
    assert rows == [(_BACK, _CENTS - _BACK)] * _DEALS


def _all_are_over(machine: Machine, shop: Shop, deals: Deals, service: FakeProcessor, *, paid: int) -> None:
    assert deals.booked(service) == {"Charge": [str(_CENTS)] * _DEALS, "ProcessorConnect": [str(paid)] * _DEALS}
    rows = machine.rows("select status, escrow_cents, paid_cents from deal where organization_id = %s", shop.id)
    assert rows == [("Completed", 0, paid)] * _DEALS
    told = machine.rows(
        "select count(*) from event where organization_id = %s and type = 'milestone.released'", shop.id
    )
    assert told == [(_DEALS,)]
