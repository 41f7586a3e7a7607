"""Whatever is sold, refunded and told again: a code counts what it credited and is not refunded in full."""

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
_ACTS = st.one_of(
    st.tuples(st.just("sell"), st.sampled_from(_CODES), st.integers(100, 10_000)),
    st.tuples(st.just("refund"), st.integers(0, 9), st.sampled_from([0.25, 0.5, 1.0])),
    st.tuples(st.just("restore"), st.integers(0, 9), st.just(None)),
    st.tuples(st.just("again"), st.integers(0, 9), st.just(None)),
)


class _Shop:
    def __init__(self, app, stage):
        self.brand, self.stage = Brand.create(app), stage
        self.brand.program()
        jane = self.brand.affiliate("jane")
        made = connect_gateway(self.brand.person("Owner"), stage)
        self.path = "/" + made["webhookUrl"].split("/", 3)[3]
        family = create_coupon(self.brand)["id"]
        for text in _CODES[:2]:
            mint_code(self.brand, jane, family, text)
        self.sales, self.refunded = [], []

    def hear(self, *sent):
        for one in sent:
            self.brand.app.test_client().post(self.path, data=one.body, headers=dict(one.headers))

    def act(self, kind, which, much):
        if kind == "sell":
            customer = str(len(self.sales))
            sale = self.stage.pay(
                Purchase(cents=much, code=which, slug=None, customer=customer, email=f"b{customer}@example.com")
            )
            self.sales.append(sale)
            self.refunded.append(0)
            self.hear(*sale.notifications)
        elif which < len(self.sales):
            getattr(self, f"_{kind}")(which, much)

    def _refund(self, which, share):
        sale = self.sales[which]
        left = sale.purchase.cents - self.refunded[which]
        cents = left if share == 1.0 else int(left * share)
        if cents:
            self.refunded[which] += cents
            self.hear(*self.stage.refund(sale, cents))

    def _restore(self, which, _):
        if self.refunded[which]:
            self.stage.now += timedelta(seconds=1)
            self.hear(*self.stage.restore(self.sales[which], self.refunded[which]))
            self.refunded[which] = 0

    def _again(self, which, _):
        self.hear(*self.sales[which].notifications)

    def expected(self):
        counts = Counter(dict.fromkeys(_CODES[:2], 0))
        for sale, refunded in zip(self.sales, self.refunded, strict=True):
            if sale.purchase.code and refunded < sale.purchase.cents:
                counts[sale.purchase.code] += 1
        return dict(counts)


@pytest.mark.parametrize("is_late", [False, True])
def test_a_code_counts_what_it_credited_and_is_not_refunded_in_full(app, is_late):
    @settings(max_examples=15, deadline=None)
    @given(st.lists(_ACTS, min_size=1, max_size=12))
    def acted(acts):
        with play_gateway() as stage:
            shop = _Shop(app, stage)
            for act in acts:
                shop.act(*act)
                if not is_late:
                    drain()
            drain()

            counted = dict(shop.brand.rows("select code, redemption_count from affiliate_coupon"))
            assert counted == shop.expected()

    acted()
