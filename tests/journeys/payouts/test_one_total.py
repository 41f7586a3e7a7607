"""For random lines, currencies, rates and debts, the preview's amounts are those that the run pays.

Source: core spec, "Payouts" (preview, run); a line is its native amount at the run's rate, half to even.
"""

from collections import defaultdict
from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.api.payouts import RUN, URL, owner
from tests.support.rows.paying import Payroll

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
    """A brand with three affiliates, and what is still due line by line as a reader of the spec computes it."""

    def __init__(self, app, rates):
        self.payroll = Payroll.create(app)
        self.rates = {"USD": Fraction(1)} | {currency: Fraction(rate) for currency, rate in rates.items()}
        for currency, rate in rates.items():
            self.payroll.rate(currency, str(rate))
        for slug in _PAYEES:
            self.payroll.affiliate(slug)
        self.count = 0

    def sell(self, lines):
        """Sell so that each line's affiliate earns its native amount; return the external ids."""
        ids = []
        for slug, currency, cents in lines:
            self.count += 1
            ids.append(f"sale-{self.count}")
            self.payroll.sell(slug, 5 * cents, currency, externalEventId=ids[-1])
        return ids

    def due_lines(self):
        """Return what is due, line by line: affiliate, currency, native amount."""
        return self.payroll.brand.rows(
            "select affiliate_id::text, currency, case when status in ('Denied', 'Invalidated') then 0"
            " else commission_cents - reversed_cents end - paid_cents from conversion"
        )

    def usd_cents(self, currency, native):
        """Return a line in US cents."""
        return round(Fraction(native, 10 ** _EXPONENTS[currency]) / self.rates[currency] * 100)

    def check_preview_and_run(self):
        """Compare the preview with the lines that are due, then the run with the preview."""
        person = owner(self.payroll)
        preview = person.post(f"{URL}/preview").json
        shown = defaultdict(int)
        for one in preview["candidates"]:
            assert one["payoutReady"] == (one["blockedReason"] is None)
            if one["payoutReady"]:
                shown[one["affiliateId"]] += one["payoutUsdCents"]
            else:
                assert one["payoutUsdCents"] == 0

        by_line = defaultdict(int)
        ready = {(one["affiliateId"], one["currency"]) for one in preview["candidates"] if one["payoutReady"]}
        for affiliate_id, currency, native in self.due_lines():
            if (affiliate_id, currency) in ready:
                by_line[affiliate_id] += self.usd_cents(currency, native)

        total = preview["payoutTotalUsdCents"]
        assert shown == by_line
        assert all(cents >= 1 for cents in shown.values())
        assert total == preview["usdEstimateAtRunRateCents"] == sum(shown.values())
        assert preview["payoutCount"] == len(shown)

        answer = person.post(RUN, {"confirmTotalCents": preview["totalEligibleCents"]})
        if not shown:
            assert answer.json["error"] == "nothing_to_pay"
            return
        assert answer.status_code == 200, answer.get_data(as_text=True)
        receipt = answer.json
        assert {one["affiliateId"]: one["amountCents"] for one in receipt["payouts"]} == shown
        assert receipt["totalCents"] == total
        assert receipt["nativeTotalsForRun"] == preview["nativeTotalsForRun"]
        sums = self.payroll.brand.rows(
            "select p.affiliate_id::text, p.amount_cents, sum(l.amount_cents)::bigint from payout p"
            " join payout_line l on l.payout_id = p.id where p.run_id = %s group by p.id",
            receipt["runId"],
        )
        assert {affiliate_id: (amount, amount) for affiliate_id, amount in shown.items()} == {
            affiliate_id: (amount, lines) for affiliate_id, amount, lines in sums
        }


@settings(max_examples=12)
@example(
    first=[("ann", "VND", 1)] * 6,
    rates={"VND": "25400", "EUR": "0.8", "JPY": "151", "KWD": "0.3", "IDR": "16000"},
    back=[],
    is_restored=False,
    then=[("ben", "EUR", 3), ("ben", "JPY", 2)],
)
@given(
    first=_LINES,
    rates=_RATES,
    back=st.lists(st.integers(0, 7), max_size=4, unique=True),
    is_restored=st.booleans(),
    then=_LINES,
)
def test_preview_and_run_agree_for_every_affiliate_and_in_all(app, first, rates, back, is_restored, then):
    books = _Books(app, rates)
    sold = books.sell(first)
    books.check_preview_and_run()
    books.payroll.pay()

    # What was paid and refunded is a debt, netted within its currency, or over all after a restore.
    for number in back:
        if number < len(sold):
            books.payroll.brand.refund(sold[number], None)
    if is_restored:
        books.payroll.execute(
            "update conversion set source = 'restore' where paid_cents > commission_cents - reversed_cents"
        )
    books.sell(then)

    books.check_preview_and_run()
