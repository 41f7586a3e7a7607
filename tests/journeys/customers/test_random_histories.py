"""One customer across all sources: random histories match the reference model in any order and repetition.

Source: tracking spec, section 8; core spec, "Program fields accepted on create or update", rule 4.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from domain import emails
from models import db
from pipelines import ledger_check
from pipelines.conversions import acceptance
from tests.api.gateways.conftest import Shop
from tests.journeys.customers.reference import AMOUNT_CENTS, Lead, Payment, Reference
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Notification, Purchase
from tests.support.job_queues import drain
from tests.support.rows import lead_rows

_EMAILS = ("a@x.test", "b@x.test", "A+tag@x.test", "c@x.test", "d@x.test", "e@x.test")
# WooCommerce shops number their customers; the ids of other gateways are unique.
_CUSTOMERS = ("cus_1", "cus_2", "11", "12", "13", None)
_SLUGS = ("ann", "ben")
#: Prefix of the customer ids of a gateway.
_ID = {"stripe": "cus_", "woocommerce": "1", "mollie": "cst_"}
# Early enough that no step of a history is in the future.
_START = datetime(2024, 1, 15, tzinfo=UTC)


class _Delivery(NamedTuple):
    """Notifications of a gateway about a payment; `is_booking`: they report the payment itself."""

    shop: Shop
    notifications: Sequence[Notification]
    payment: Payment
    is_booking: bool


class _History:
    """Payments of one customer, sent to the service and to the reference model.

    Gateways deliver some of their notifications late, in any order, and many of them twice.
    """

    def __init__(self, brand, shops, seed, **terms):
        self.brand, self.shops, self.draw = brand, shops, random.Random(seed)
        self.reference = Reference(**terms)
        # In a third of the histories leads decide more often: few payments name an affiliate, and emails vary.
        is_quiet = seed % 3 == 2
        self.slugs = (*_SLUGS, *[None] * (40 if is_quiet else 6))
        self.emails = (*_EMAILS, *(f"{letter}@x.test" for letter in "fghijklm" if is_quiet))
        self.now, self.gateway_payments, self.numbers, self.part_of = _START, [], 0, {}
        self.delayed, self.reported = [], []

    def step(self):
        self.now += timedelta(days=self.draw.randint(1, 25))
        often = [self.sell] * 8
        actions = [
            self.import_,
            self.sign,
            self.record,
            self.sign_up,
            self.sign_up,
            self.refund,
            self.refund,
            self.refund_by_brand,
            self.cancel,
            self.pay_again,
            self.deliver_delayed,
            self.deliver_delayed,
            *often,
        ]
        self.draw.choice(actions)()

    def finish(self):
        while self.delayed:
            self.deliver_delayed()

    def _book(self, payment):
        drain()
        self.reference.book(payment)

    def _number(self):
        self.numbers += 1
        return f"p{self.numbers}"

    def import_(self):
        customer, email = self.draw.choice(_CUSTOMERS), self.draw.choice((*self.emails, None))
        subscription = self.draw.choice(["sub_1", "sub_2", "sub_3", None])
        if subscription and self.draw.choice([True, False]):
            customer = email = None
        at = self.now - timedelta(days=self.draw.choice([0, 0, 200]))
        payment = Payment(
            self._number(),
            at,
            customer=customer,
            subscription=subscription,
            email=email,
            slug=self.draw.choice(_SLUGS),
            type="OneTime",
            earns=700,
            is_locked=True,
        )
        row = build_past_sale(
            affiliateSlug=payment.slug,
            externalId=payment.id,
            commissionCents=700,
            type="OneTime",
            occurredAt=at.isoformat(),
            processorCustomerId=customer,
            processorSubscriptionId=subscription,
            customerEmail=email,
        )
        for _ in range(self.draw.choice([1, 2])):
            assert import_sales(self.brand, row).status_code == 200
        self._book(payment)

    def sign(self):
        payment = Payment(
            self._number(),
            self.now,
            customer=self.draw.choice(_CUSTOMERS),
            email=self.draw.choice((*self.emails, None)),
            slug=self.draw.choice(_SLUGS),
        )
        sale_body = {
            "external_event_id": payment.id,
            "affiliate_slug": payment.slug,
            "amount_cents": 10_000,
            "currency": "USD",
        }
        sale_body |= {"customer_id": payment.customer, "customer_email": payment.email, "customer_name": None}
        sale_body |= {"customer_avatar_url": None, "sub_id": None}
        for _ in range(self.draw.choice([1, 2])):
            with db.unit_of_work(self.brand.id):
                acceptance.accept_sale(organization_id=self.brand.id, body=sale_body, is_test=False, now=self.now)
        self._book(payment)

    def record(self):
        slug, email = self.draw.choice(_SLUGS), self.draw.choice((*self.emails, None))
        (affiliate_row,) = self.brand.rows("select affiliate_id::text from tracking_link where slug = %s", slug)
        body = {"programId": str(self.brand.programs[-1]), "affiliateId": affiliate_row[0], "amountCents": 10_000}
        body |= {"currency": "USD", "kind": "sale", "occurredAt": self.now.isoformat(), "customerEmail": email}
        answer = self.brand.post("/api/v1/conversions", body)
        assert answer.status_code == 201, answer.json
        earns = 0 if self.reference.delay else 2_000
        id = answer.json["conversion"]["externalEventId"]
        self._book(Payment(id, self.now, email=email, slug=slug, type="OneTime", earns=earns))

    def sign_up(self):
        slug, email = self.draw.choice(_SLUGS), self.draw.choice(self.emails)
        inbox = emails.normalize(email)
        if any(lead.inbox == inbox for lead in self.reference.leads):
            return  # one person is one lead of a campaign
        ((affiliate_id,),) = self.brand.rows("select affiliate_id from tracking_link where slug = %s", slug)
        lead_rows.record_lead(self.brand, affiliate_id, email, occurred_at=self.now)
        self.reference.leads.append(Lead(self.now, inbox, slug))

    def sell(self):
        shop = self.draw.choice(self.shops)
        gateway = shop.stage.gateway.name
        shop.stage.now = self.now
        customer = self.draw.choice("123")
        email = self.draw.choice([*self.emails, *(lead.inbox for lead in self.reference.leads for _ in range(3))])
        if gateway == "mollie":  # payments there name a customer, whose email is read when they are booked
            email = _EMAILS[2 + int(customer)]
        purchase = Purchase(cents=10_000, customer=customer, email=email, slug=self.draw.choice(self.slugs))
        if gateway == "mollie":
            first = shop.stage.pay_first_part(replace(purchase, cents=4_000))
            sales = [first, shop.stage.pay_part(first, 6_000)]
        else:
            sales = [shop.stage.pay(purchase)]
        payment = Payment(
            sales[0].id, self.now, gateway=gateway, customer=_ID[gateway] + customer, email=email, slug=purchase.slug
        )
        payment.subscription = f"sub_{customer}" if gateway == "stripe" else None
        self.gateway_payments.append((shop, sales, payment))
        for sale in sales:
            self.part_of[sale.id] = payment.id
            self._send(_Delivery(shop, sale.notifications, payment, is_booking=True))

    def _send(self, delivery):
        if self.draw.random() < 0.3:
            self.delayed.append(delivery)
        else:
            self._deliver(delivery)

    def deliver_delayed(self):
        if self.delayed:
            self._deliver(self.delayed.pop(self.draw.randrange(len(self.delayed))))

    def _deliver(self, delivery):
        for _ in range(self.draw.choice([1, 2])):
            delivery.shop.receive(*self.draw.sample(delivery.notifications, len(delivery.notifications)))
        if delivery.is_booking and delivery.payment not in self.reported:
            self.reported.append(delivery.payment)
            self._book(delivery.payment)

    def _choose_payment(self, condition):
        matching = [entry for entry in self.gateway_payments if condition(entry[2])]
        return self.draw.choice(matching) if matching else (None, (), None)

    def refund(self):
        shop, sales, payment = self._choose_payment(
            lambda payment: not payment.refunded_cents and not payment.is_cancelled
        )
        is_whole = self.draw.choice([True, False])
        for sale in sales if is_whole else sales[:1]:
            shop.stage.now = self.now
            cents = sale.purchase.cents if is_whole else 2_500
            payment.refunded_cents += cents
            # An order of this gateway is reported with its refunds.
            is_booking = payment.gateway == "woocommerce"
            self._send(_Delivery(shop, shop.stage.refund(sale, cents), payment, is_booking=is_booking))

    def refund_by_brand(self):
        payments = [payment for payment in self.reference.booked if payment.gateway is None]
        payments = [payment for payment in payments if not payment.refunded_cents]
        if not payments:
            return
        payment = self.draw.choice(payments)
        payment.refunded_cents = self.draw.choice([2_500, 5_000, AMOUNT_CENTS])
        ((id,),) = self.brand.rows("select id from conversion where external_event_id = %s", payment.id)
        body = {"amountCents": payment.refunded_cents, "reason": "refunded"}
        answer = self.brand.post(f"/api/v1/conversions/{id}/refund", body)
        assert answer.status_code == 200, answer.json

    def cancel(self):
        shop, sales, payment = self._choose_payment(
            lambda payment: (
                payment.gateway == "woocommerce"
                and payment in self.reported
                and not payment.is_cancelled
                and not payment.refunded_cents
            )
        )
        for sale in sales:
            shop.stage.now = self.now
            payment.is_cancelled = True
            self._send(_Delivery(shop, shop.stage.cancel(sale), payment, is_booking=False))

    def pay_again(self):
        shop, sales, payment = self._choose_payment(lambda payment: payment.is_cancelled)
        for sale in sales:
            shop.stage.now = self.now
            payment.is_cancelled = False
            self._send(_Delivery(shop, shop.stage.pay_again(sale), payment, is_booking=False))


_BOOKED = """
select external_event_id, (select l.slug from tracking_link l where l.affiliate_id = c.affiliate_id), type,
  commission_cents, refunded_cents,
  coalesce((select sum(amount_cents)::int from ledger_entry e where e.conversion_id = c.id), 0)
from conversion c where source <> 'lead'
"""
_COUNTED = "select payments, first_paid_at from program_customer where payments > 0"
_NUMBERED = "select external_event_id, customer_ordinal from sale"


@pytest.mark.parametrize("seed", range(48))
def test_random_customer_histories_match_the_reference(brand, seed):
    months, delay = [(None, 0), (6, 0), (None, 2), (12, 1)][seed % 4]
    terms = {"recurring_months": months, "recurring_delay_invoices": delay}
    brand.program(default_commission_type="Percentage", default_commission_value=20, **terms)
    brand.affiliate("ann")
    brand.affiliate("ben")
    with play_gateway("stripe") as stripe, play_gateway("woocommerce") as woocommerce, play_gateway("mollie") as mollie:
        owner = brand.person("Owner")
        shops = [Shop(brand, stage, connect_gateway(owner, stage)) for stage in (stripe, woocommerce, mollie)]
        brand.rows("update gateway_connection set connected_at = %s returning 1", _START - timedelta(days=1))
        history = _History(brand, shops, seed, months=months, delay=delay)
        for _ in range(24):
            history.step()
        history.finish()

    reference = history.reference
    expected = {
        payment.id: (
            payment.affiliate,
            payment.type,
            payment.commission,
            payment.taken_back_cents,
            payment.ledger_cents,
        )
        for payment in reference.booked
    }
    booked = {history.part_of.get(id, id): tuple(rest) for id, *rest in brand.rows(_BOOKED)}
    assert booked == expected
    assert sorted(brand.rows(_COUNTED)) == sorted((person.payments, person.first) for person in reference.list_payers())
    numbers = {payment.id: payment.number for payment in reference.booked}
    assert all(numbers[id] == number for id, number in brand.rows(_NUMBERED))
    with db.unit_of_work(brand.id):
        assert ledger_check.run(brand.id, now=datetime.now(UTC)) == []
