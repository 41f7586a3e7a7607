"""One customer over all sources: random histories end as the rules say, whatever came first and however often.

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
# Shops number their customers; those of the others are unlike anybody else's.
_CUSTOMERS = ("cus_1", "cus_2", "11", "12", "13", None)
_SLUGS = ("ann", "ben")
#: What the ids of a gateway begin with: WooCommerce numbers its customers.
_ID = {"stripe": "cus_", "woocommerce": "1", "mollie": "cst_"}
# Long enough ago that no step of any history lies ahead.
_START = datetime(2024, 1, 15, tzinfo=UTC)


class _History:
    """Payments of somebody, told to the service and to the reference."""

    def __init__(self, brand, shops, seed, **terms):
        self.brand, self.shops, self.draw = brand, shops, random.Random(seed)
        self.reference = Reference(**terms)
        self.now, self.told, self.numbers, self.part_of = _START, [], 0, {}

    def step(self):
        self.now += timedelta(days=self.draw.randint(1, 25))
        often = [self.sell] * 8
        acts = [
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
        self.draw.choice(acts)()

    def _book(self, paid):
        drain()
        self.reference.book(paid)

    def _number(self):
        self.numbers += 1
        return f"p{self.numbers}"

    def import_(self):
        customer, email = self.draw.choice(_CUSTOMERS), self.draw.choice(_EMAILS)
        at = self.now - timedelta(days=self.draw.choice([0, 0, 200]))
        paid = Payment(
            self._number(),
            at,
            customer=customer,
            email=email,
            slug=self.draw.choice(_SLUGS),
            type="OneTime",
            earns=700,
            is_locked=True,
        )
        row = build_past_sale(
            affiliateSlug=paid.slug,
            externalId=paid.id,
            commissionCents=700,
            type="OneTime",
            occurredAt=at.isoformat(),
            processorCustomerId=customer,
            customerEmail=email,
        )
        for _ in range(self.draw.choice([1, 2])):
            assert import_sales(self.brand, row).status_code == 200
        self._book(paid)

    def sign(self):
        paid = Payment(
            self._number(),
            self.now,
            customer=self.draw.choice(_CUSTOMERS),
            email=self.draw.choice(_EMAILS),
            slug=self.draw.choice(_SLUGS),
        )
        posted = {"external_event_id": paid.id, "affiliate_slug": paid.slug, "amount_cents": 10_000, "currency": "USD"}
        posted |= {"customer_id": paid.customer, "customer_email": paid.email, "customer_name": None}
        posted |= {"customer_avatar_url": None, "sub_id": None}
        for _ in range(self.draw.choice([1, 2])):
            with db.unit_of_work(self.brand.id):
                acceptance.accept_sale(organization_id=self.brand.id, body=posted, is_test=False, now=self.now)
        self._book(paid)

    def record(self):
        slug, email = self.draw.choice(_SLUGS), self.draw.choice(_EMAILS)
        (found,) = self.brand.rows("select affiliate_id::text from tracking_link where slug = %s", slug)
        body = {"programId": str(self.brand.programs[-1]), "affiliateId": found[0], "amountCents": 10_000}
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
        bought = Purchase(cents=10_000, customer=customer, email=email, slug=self.draw.choice((*_SLUGS, *[None] * 6)))
        if gateway == "mollie":
            first = shop.stage.pay_first_part(replace(bought, cents=4_000))
            sold = [first, shop.stage.pay_part(first, 6_000)]
        else:
            sold = [shop.stage.pay(bought)]
        for sale in sold:
            for _ in range(self.draw.choice([1, 2])):
                shop.hear(*sale.notifications)
            self.part_of[sale.id] = sold[0].id
        paid = Payment(
            sold[0].id, self.now, gateway=gateway, customer=_ID[gateway] + customer, email=email, slug=bought.slug
        )
        paid.subscription = f"sub_{customer}" if gateway == "stripe" else None
        self.told.append((shop, sold, paid))
        self._book(paid)

    def _tell(self, shop, sent):
        for _ in range(self.draw.choice([1, 2])):
            shop.hear(*sent)

    def _one(self, which):
        left = [one for one in self.told if which(one[2])]
        return self.draw.choice(left) if left else (None, (), None)

    def refund(self):
        shop, sold, paid = self._one(lambda paid: not paid.is_refunded and not paid.is_cancelled)
        for sale in sold:
            shop.stage.now = self.now
            self._tell(shop, shop.stage.refund(sale, sale.purchase.cents))
            paid.is_refunded = True

    def cancel(self):
        shop, sold, paid = self._one(
            lambda paid: paid.gateway == "woocommerce" and not paid.is_cancelled and not paid.is_refunded
        )
        for sale in sold:
            shop.stage.now = self.now
            self._tell(shop, shop.stage.cancel(sale))
            paid.is_cancelled = True

    def pay_again(self):
        shop, sold, paid = self._one(lambda paid: paid.is_cancelled)
        for sale in sold:
            shop.stage.now = self.now
            self._tell(shop, shop.stage.pay_again(sale))
            paid.is_cancelled = False


_BOOKED = """
select external_event_id, (select l.slug from tracking_link l where l.affiliate_id = c.affiliate_id), type,
  commission_cents,
  coalesce((select sum(amount_cents)::int from ledger_entry e where e.conversion_id = c.id), 0)
from conversion c where source <> 'lead'
"""


@pytest.mark.parametrize("seed", range(24))
def test_random_histories_of_a_person_end_as_the_rules_say(brand, seed):
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
        one.id: (one.affiliate, one.type, one.commission, 0 if one.is_owed_nothing else one.commission)
        for one in history.reference.booked
    }
    booked = {history.part_of.get(id, id): tuple(rest) for id, *rest in brand.rows(_BOOKED)}
    assert booked == expected
    with db.unit_of_work(brand.id):
        assert ledger_check.run(brand.id, now=datetime.now(UTC)) == []
