"""One customer across all sources: random histories match the reference model in any order and repetition.

Source: tracking spec, section 8; core spec, "Program fields accepted on create or update", rule 4.
"""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain import emails
from models import db
from pipelines import ledger_check
from pipelines.conversions import acceptance
from tests.api.gateways.conftest import Shop
from tests.journeys.customers.reference import Lead, Payment, Reference
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows import lead_rows

_EMAILS = ("a@x.test", "b@x.test", "A+tag@x.test", "c@x.test", "d@x.test", "e@x.test", None)
# WooCommerce shops number their customers; the ids of other gateways are unique.
_CUSTOMERS = ("cus_1", "cus_2", "11", "12", "13", None)
_SLUGS = ("ann", "ben")
#: Prefix of the customer ids of a gateway.
_ID = {"stripe": "cus_", "woocommerce": "1", "mollie": "cst_"}
# Early enough that no step of a history is in the future.
_START = datetime(2024, 1, 15, tzinfo=UTC)


class _History:
    """Payments of one customer, sent to the service and to the reference model."""

    def __init__(self, brand, shops, seed, **terms):
        self.brand, self.shops, self.draw = brand, shops, random.Random(seed)
        self.reference = Reference(**terms)
        self.now, self.gateway_payments, self.numbers, self.part_of = _START, [], 0, {}

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
            self.cancel,
            self.pay_again,
            *often,
        ]
        self.draw.choice(actions)()

    def _book(self, payment):
        drain()
        self.reference.book(payment)

    def _number(self):
        self.numbers += 1
        return f"p{self.numbers}"

    def import_(self):
        customer, email = self.draw.choice(_CUSTOMERS), self.draw.choice(_EMAILS)
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
            email=self.draw.choice(_EMAILS),
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
        slug, email = self.draw.choice(_SLUGS), self.draw.choice(_EMAILS)
        (affiliate_row,) = self.brand.rows("select affiliate_id::text from tracking_link where slug = %s", slug)
        body = {"programId": str(self.brand.programs[-1]), "affiliateId": affiliate_row[0], "amountCents": 10_000}
        body |= {"currency": "USD", "kind": "sale", "occurredAt": self.now.isoformat(), "customerEmail": email}
        answer = self.brand.post("/api/v1/conversions", body)
        assert answer.status_code == 201, answer.json
        earns = 0 if self.reference.delay else 2_000
        id = answer.json["conversion"]["externalEventId"]
        self._book(Payment(id, self.now, email=email, slug=slug, type="OneTime", earns=earns))

    def sign_up(self):
        slug, email = self.draw.choice(_SLUGS), self.draw.choice(_EMAILS[:-1])
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
        email = self.draw.choice([*_EMAILS[:-1], *(lead.inbox for lead in self.reference.leads for _ in range(3))])
        if gateway == "mollie":  # payments there name a customer, whose email is read when they are booked
            email = _EMAILS[2 + int(customer)]
        purchase = Purchase(cents=10_000, customer=customer, email=email, slug=self.draw.choice((*_SLUGS, *[None] * 6)))
        if gateway == "mollie":
            first = shop.stage.pay_first_part(replace(purchase, cents=4_000))
            sales = [first, shop.stage.pay_part(first, 6_000)]
        else:
            sales = [shop.stage.pay(purchase)]
        for sale in sales:
            for _ in range(self.draw.choice([1, 2])):
                shop.receive(*sale.notifications)
            self.part_of[sale.id] = sales[0].id
        payment = Payment(
            sales[0].id, self.now, gateway=gateway, customer=_ID[gateway] + customer, email=email, slug=purchase.slug
        )
        payment.subscription = f"sub_{customer}" if gateway == "stripe" else None
        self.gateway_payments.append((shop, sales, payment))
        self._book(payment)

    def _deliver(self, shop, notifications):
        for _ in range(self.draw.choice([1, 2])):
            shop.receive(*notifications)

    def _choose_payment(self, condition):
        matching = [entry for entry in self.gateway_payments if condition(entry[2])]
        return self.draw.choice(matching) if matching else (None, (), None)

    def refund(self):
        shop, sales, payment = self._choose_payment(
            lambda payment: not payment.is_refunded and not payment.is_cancelled
        )
        for sale in sales:
            shop.stage.now = self.now
            self._deliver(shop, shop.stage.refund(sale, sale.purchase.cents))
            payment.is_refunded = True

    def cancel(self):
        shop, sales, payment = self._choose_payment(
            lambda payment: payment.gateway == "woocommerce" and not payment.is_cancelled and not payment.is_refunded
        )
        for sale in sales:
            shop.stage.now = self.now
            self._deliver(shop, shop.stage.cancel(sale))
            payment.is_cancelled = True

    def pay_again(self):
        shop, sales, payment = self._choose_payment(lambda payment: payment.is_cancelled)
        for sale in sales:
            shop.stage.now = self.now
            self._deliver(shop, shop.stage.pay_again(sale))
            payment.is_cancelled = False


_BOOKED = """
select external_event_id, (select l.slug from tracking_link l where l.affiliate_id = c.affiliate_id), type,
  commission_cents,
  coalesce((select sum(amount_cents)::int from ledger_entry e where e.conversion_id = c.id), 0)
from conversion c where source <> 'lead'
"""


@pytest.mark.parametrize("seed", range(24))
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

    expected = {
        payment.id: (
            payment.affiliate,
            payment.type,
            payment.commission,
            0 if payment.is_owed_nothing else payment.commission,
        )
        for payment in history.reference.booked
    }
    booked = {history.part_of.get(id, id): tuple(rest) for id, *rest in brand.rows(_BOOKED)}
    assert booked == expected
    with db.unit_of_work(brand.id):
        assert ledger_check.run(brand.id, now=datetime.now(UTC)) == []
