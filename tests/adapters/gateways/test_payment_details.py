"""Tax, shipping, discount and net only describe a payment: unreadable ones are unknown and never fail the event."""

from decimal import Decimal

import pytest

from domain.gateways.facts import PaymentFact, UnreadableEvent
from tests.support.gateways.deliveries import read_facts
from tests.support.gateways.figures import FIGURES, MISSING, Figure, resend_sale
from tests.support.gateways.stage import Purchase, Stage
from tests.support.gateways.stages import STAGES, all_gateways

_MAJOR = ("-1.74", "1.2345678", "", "x", "1,50", "1e3", "9" * 30)
_MINOR = (-174, "-174", "1.5", "", "x", "9" * 30)
# Values that XML and forms cannot express.
_JSON_ONLY = (True, [], {}, -1.5, 1.005, 10**30)
_TEXT_ONLY = ("braintree", "thrivecart")
_CASES = [pytest.param(name, figure, id=f"{name}-{figure.name}") for name in FIGURES for figure in FIGURES[name]]
figures = pytest.mark.parametrize(("stage", "figure"), _CASES, indirect=["stage"])


def _payment(stage: Stage, changes: dict | None = None, **purchase) -> PaymentFact:
    sale = stage.pay(Purchase(cents=10_000, **purchase))
    (payment,) = [
        fact for fact in read_facts(stage, *resend_sale(stage, sale, changes or {})) if isinstance(fact, PaymentFact)
    ]
    return payment


def test_every_gateway_has_its_figures():
    assert set(FIGURES) == set(STAGES)


@all_gateways
def test_readable_figures_do_not_change_the_payment(stage):
    payment = _payment(stage)
    assert (payment.amount_cents, payment.currency) == (10_000, "USD")
    has_net = any(figure.counts for figure in FIGURES[stage.gateway.name])
    assert (payment.net_cents is not None and payment.net_cents < 10_000) == has_net


@figures
def test_unreadable_figure_is_unknown_and_the_payment_counts(stage, figure: Figure):
    values = (*(_MINOR if figure.is_minor else _MAJOR), *(() if stage.gateway.name in _TEXT_ONLY else _JSON_ONLY))
    for value in values:
        payment = _payment(stage, {figure.path: value})
        assert payment.amount_cents == 10_000, value
        if figure.counts:
            assert payment.net_cents is None, value


@figures
def test_missing_figure_is_unknown_and_the_payment_counts(stage, figure: Figure):
    payment = _payment(stage, {figure.path: MISSING})
    assert payment.amount_cents == 10_000
    if figure.counts:
        assert (payment.net_cents is None) != figure.is_optional


@figures
def test_figure_above_the_payment_is_unknown(stage, figure: Figure):
    if not figure.counts or figure.name in ("total", "net"):
        return
    payment = _payment(stage, {figure.path: 10_100 if figure.is_minor else "101.00"})
    assert (payment.amount_cents, payment.net_cents) == (10_000, None)


@pytest.mark.parametrize("stage", ["mollie"], indirect=True)
def test_mollie_discount_line_reduces_the_tax(stage):
    payment = _payment(
        stage, {("lines", 0, "vatAmount"): {"value": "18.00"}, ("lines", 2, "vatAmount"): {"value": "-1.74"}}
    )
    assert payment.net_cents == 10_000 - 200 - (1_800 - 174)


@pytest.mark.parametrize("stage", ["stripe"], indirect=True)
@pytest.mark.parametrize(("paid_cents", "total"), [(2_000, -1_000), (0, -5_000)])
def test_stripe_invoice_with_a_negative_total_counts_the_paid_amount(stage, paid_cents, total):
    changes = {("amount_paid",): paid_cents, ("total",): total, ("total_excluding_tax",): total}
    payment = _payment(stage, changes)
    assert (payment.amount_cents, payment.net_cents) == (paid_cents, None)


@pytest.mark.parametrize("stage", ["thrivecart"], indirect=True)
def test_thrivecart_net_amount_counts_when_the_added_tax_is_unknown(stage):
    payment = _payment(stage, {("total_gross",): 11_800, ("tax",): "x"})
    assert (payment.amount_cents, payment.net_cents) == (10_000, None)


#: The path of the payment's amount, an amount more precise than its currency, and the rounded cents.
_PRECISE = [
    ("braintree", ("amount",), "108.9049", 10_890),
    ("braintree", ("amount",), "108.905", 10_890),
    ("mollie", ("amount", "value"), "108.9049", 10_890),
    ("mollie", ("amount", "value"), "108.915", 10_892),
    ("shopify", ("total_price",), "108.9049", 10_890),
    ("bigcommerce", ("total_inc_tax",), "108.9050", 10_890),
    ("wix", ("priceSummary", "total", "amount"), "108.9049", 10_890),
    ("woocommerce", ("total",), "108.9049", 10_890),
    ("recurly", ("paid",), Decimal("108.905"), 10_890),
]


@pytest.mark.parametrize(("stage", "path", "amount", "cents"), _PRECISE, indirect=["stage"])
def test_payment_more_precise_than_its_currency_is_rounded_half_even(stage, path, amount, cents):
    assert _payment(stage, {path: amount}).amount_cents == cents


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
@pytest.mark.parametrize(("total", "units"), [("980.50", 980), ("981.50", 982), ("980.4999", 980)])
def test_woocommerce_yen_are_rounded_half_even(stage, total, units):
    assert _payment(stage, {("total",): total}, currency="JPY").amount_cents == units


#: The path of the payment's amount at each gateway.
_PAYMENTS = {
    "stripe": ("amount_paid",),
    "braintree": ("amount",),
    "mollie": ("amount", "value"),
    "shopify": ("total_price",),
    "bigcommerce": ("total_inc_tax",),
    "wix": ("priceSummary", "total", "amount"),
    "woocommerce": ("total",),
    "paddle": ("details", "totals", "grand_total"),
    "recurly": ("paid",),
    "gumroad": ("price",),
    "lemonsqueezy": ("total",),
    "thrivecart": ("total_gross",),
}


@pytest.mark.parametrize("stage", _PAYMENTS, indirect=True)
@pytest.mark.parametrize("amount", ["-1", "x", "", "1e3", "9" * 30, "NaN"])
def test_malformed_payment_amount_is_unreadable(stage, amount):
    if (stage.gateway.name, amount) == ("thrivecart", ""):  # an empty form field: the amount is taken from the list
        return
    with pytest.raises(UnreadableEvent):
        _payment(stage, {_PAYMENTS[stage.gateway.name]: amount})
