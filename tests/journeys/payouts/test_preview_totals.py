"""For random lines, currencies, rates and debts, the preview's amounts are those that the run pays.

Source: core spec, "Payouts" (preview, run); a line is its native amount at the run's rate, half to even.
"""

from collections import defaultdict
from datetime import timedelta
from fractions import Fraction
from typing import NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters import clock
from tests.journeys.payouts.test_cadence import change_profile, list_drafts, list_emails, run_daily_check
from tests.support.api.payouts import RUN, URL, owner_session
from tests.support.rows.payroll import Payroll

_EXPONENTS = {"USD": 2, "EUR": 2, "JPY": 0, "VND": 0, "KWD": 3, "IDR": 2}
_PAYEES = ("ann", "ben", "cid")
_LINES = st.lists(
    st.tuples(
        st.sampled_from(_PAYEES),
        st.sampled_from(list(_EXPONENTS)),
        st.one_of(st.integers(1, 9), st.integers(10, 2_000), st.integers(2_000, 10_000_000)),
    ),
    min_size=1,
    max_size=8,
)
_RATES = st.fixed_dictionaries(
    {
        currency: st.decimals("0.0001", "90000", places=4, allow_nan=False)
        for currency in _EXPONENTS
        if currency != "USD"
    }
)


class _Books:
    """A brand with three affiliates, and its due lines computed independently from the spec."""

    def __init__(self, app, rates):
        self.payroll = Payroll.create(app)
        self.rates = {"USD": Fraction(1)} | {currency: Fraction(rate) for currency, rate in rates.items()}
        for currency, rate in rates.items():
            self.payroll.rate(currency, str(rate))
        for slug in _PAYEES:
            self.payroll.affiliate(slug)
        self.count = 0

    def sell(self, lines):
        """Record sales that earn the native amount of each line; return the external ids."""
        ids = []
        for slug, currency, cents in lines:
            self.count += 1
            ids.append(f"sale-{self.count}")
            self.payroll.sell(slug, 5 * cents, currency, externalEventId=ids[-1])
        return ids

    def due_lines(self):
        """Return the due lines: affiliate, currency, native amount."""
        return self.payroll.brand.rows(
            "select affiliate_id::text, currency, case when status in ('Denied', 'Invalidated') then 0"
            " else commission_cents - reversed_cents end - paid_cents from conversion"
        )

    def usd_cents(self, currency, native):
        """Return a line in US cents."""
        return round(Fraction(native, 10 ** _EXPONENTS[currency]) / self.rates[currency] * 100)

    def check_preview_and_run(self):
        """Compare the preview with the lines that are due, then the run with the preview."""
        person = owner_session(self.payroll)
        preview = person.post(f"{URL}/preview").json
        preview_cents = defaultdict(int)
        for candidate in preview["candidates"]:
            assert candidate["payoutReady"] == (candidate["blockedReason"] is None)
            if candidate["payoutReady"]:
                preview_cents[candidate["affiliateId"]] += candidate["payoutUsdCents"]
            else:
                assert candidate["payoutUsdCents"] == 0

        by_line = defaultdict(int)
        ready = {
            (candidate["affiliateId"], candidate["currency"])
            for candidate in preview["candidates"]
            if candidate["payoutReady"]
        }
        for affiliate_id, currency, native in self.due_lines():
            if (affiliate_id, currency) in ready:
                by_line[affiliate_id] += self.usd_cents(currency, native)

        total = preview["payoutTotalUsdCents"]
        assert preview_cents == by_line
        assert all(cents >= 1 for cents in preview_cents.values())
        assert total == preview["usdEstimateAtRunRateCents"] == sum(preview_cents.values())
        assert preview["payoutCount"] == len(preview_cents)

        answer = person.post(RUN, {"confirmTotalCents": preview["totalEligibleCents"]})
        if not preview_cents:
            assert answer.json["error"] == "nothing_to_pay"
            return
        assert answer.status_code == 200, answer.get_data(as_text=True)
        receipt = answer.json
        assert {candidate["affiliateId"]: candidate["amountCents"] for candidate in receipt["payouts"]} == preview_cents
        assert receipt["totalCents"] == total
        assert receipt["nativeTotalsForRun"] == preview["nativeTotalsForRun"]
        sums = self.payroll.brand.rows(
            "select p.affiliate_id::text, p.amount_cents, sum(l.amount_cents)::bigint from payout p"
            " join payout_line l on l.payout_id = p.id where p.run_id = %s group by p.id",
            receipt["runId"],
        )
        assert {affiliate_id: (amount, amount) for affiliate_id, amount in preview_cents.items()} == {
            affiliate_id: (amount, lines) for affiliate_id, amount, lines in sums
        }


class _History(NamedTuple):
    """Lines that are paid first, the numbers of those refunded after that (in a restored server or not), and more."""

    first: list[tuple[str, str, int]]
    refunded: list[int]
    is_restored: bool
    then: list[tuple[str, str, int]]


@settings(max_examples=12)
@example(
    rates={"VND": "25400", "EUR": "0.8", "JPY": "151", "KWD": "0.3", "IDR": "16000"},
    history=_History([("ann", "VND", 1)] * 6, [], False, [("ben", "EUR", 3), ("ben", "JPY", 2)]),
)
@given(
    rates=_RATES,
    history=st.builds(_History, _LINES, st.lists(st.integers(0, 7), max_size=4, unique=True), st.booleans(), _LINES),
)
def test_preview_and_run_agree_per_affiliate_and_in_total(app, rates, history):
    books = _Books(app, rates)
    sale_ids = books.sell(history.first)
    books.check_preview_and_run()
    books.payroll.pay()

    # A line that is refunded after its payment is a debt, netted within its currency, or over all after a restore.
    for number in history.refunded:
        if number < len(sale_ids):
            books.payroll.brand.refund(sale_ids[number], None)
    if history.is_restored:
        books.payroll.execute(
            "update conversion set source = 'restore' where paid_cents > commission_cents - reversed_cents"
        )
    books.sell(history.then)

    books.check_preview_and_run()


def test_draft_total_and_its_email_equal_the_run(app, drain):
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    change_profile(payroll, automaticPayoutCadence="Weekly")
    # three lines of 0.01 EUR are 1.25 cents each, and 60 dong are less than one cent
    then = (clock.now() + timedelta(days=7)).date()
    payroll.rate("EUR", "0.8", then)
    payroll.rate("VND", "25400", then)
    payroll.affiliate("ben")
    payroll.affiliate("cyd")
    for _ in range(3):
        payroll.sell("ben", 5, "EUR")
    payroll.sell("cyd", 300, "VND")

    run_daily_check(payroll, drain, days=7)

    (draft,) = list_drafts(payroll)
    assert (draft["recipientCount"], draft["usdEstimateAtRunRateCents"]) == (2, 2_003)
    assert draft["nativeTotalsForRun"] == {"EUR": 3, "USD": 2_000}
    assert "20.03 USD" in list_emails(payroll)[0][2]
    assert payroll.run().total_cents == 2_003


def test_amounts_below_one_cent_prepare_nothing(app, drain):
    payroll = Payroll.create(app)
    payroll.rate("VND", "25400", (clock.now() + timedelta(days=7)).date())
    payroll.affiliate("ann")
    payroll.sell("ann", 300, "VND")
    change_profile(payroll, automaticPayoutCadence="Weekly")

    run_daily_check(payroll, drain, days=7)

    assert list_drafts(payroll) == []
    assert list_emails(payroll) == []
