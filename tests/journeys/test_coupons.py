"""A code's redemption count is the number of credited sales that are not fully refunded, whatever events arrive."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand

_CODES = ("ONE-1", "TWO-2", None)
_ACTIONS = st.one_of(
    st.tuples(st.just("sell"), st.sampled_from(_CODES), st.integers(100, 10_000)),
    st.tuples(st.just("refund"), st.integers(0, 9), st.sampled_from([0.25, 0.5, 1.0])),
    st.tuples(st.just("restore"), st.integers(0, 9), st.just(None)),
    st.tuples(st.just("repeat"), st.integers(0, 9), st.just(None)),
)


class _Shop:
    def __init__(self, app, stage):
        self.brand, self.stage = Brand.create(app), stage
        self.brand.program()
        jane = self.brand.affiliate("jane")
        connection = connect_gateway(self.brand.person("Owner"), stage)
        self.path = "/" + connection["webhookUrl"].split("/", 3)[3]
        family = create_coupon(self.brand)["id"]
        for text in _CODES[:2]:
            mint_code(self.brand, jane, family, text)
        self.sales, self.refunded = [], []

    def deliver(self, *requests):
        for request in requests:
            self.brand.app.test_client().post(self.path, data=request.body, headers=dict(request.headers))

    def act(self, kind, which, amount):
        if kind == "sell":
            customer = str(len(self.sales))
            sale = self.stage.pay(
                Purchase(cents=amount, code=which, slug=None, customer=customer, email=f"b{customer}@example.com")
            )
            self.sales.append(sale)
            self.refunded.append(0)
            self.deliver(*sale.notifications)
        elif which < len(self.sales):
            getattr(self, f"_{kind}")(which, amount)

    def _refund(self, which, share):
        sale = self.sales[which]
        remaining_cents = sale.purchase.cents - self.refunded[which]
        cents = remaining_cents if share == 1.0 else int(remaining_cents * share)
        if cents:
            self.refunded[which] += cents
            self.deliver(*self.stage.refund(sale, cents))

    def _restore(self, which, _):
        if self.refunded[which]:
            self.stage.now += timedelta(seconds=1)
            self.deliver(*self.stage.restore(self.sales[which], self.refunded[which]))
            self.refunded[which] = 0

    def _repeat(self, which, _):
        self.deliver(*self.sales[which].notifications)

    def count_expected(self):
        counts = Counter(dict.fromkeys(_CODES[:2], 0))
        for sale, refunded in zip(self.sales, self.refunded, strict=True):
            if sale.purchase.code and refunded < sale.purchase.cents:
                counts[sale.purchase.code] += 1
        return dict(counts)


@pytest.mark.parametrize("is_late", [False, True])
def test_redemption_count_excludes_fully_refunded_sales(app, is_late):
    @settings(max_examples=15, deadline=None)
    @given(st.lists(_ACTIONS, min_size=1, max_size=12))
    def run_actions(actions):
        with play_gateway() as stage:
            shop = _Shop(app, stage)
            for act in actions:
                shop.act(*act)
                if not is_late:
                    drain()
            drain()

            counted = dict(shop.brand.rows("select code, redemption_count from affiliate_coupon"))
            assert counted == shop.count_expected()

    run_actions()
