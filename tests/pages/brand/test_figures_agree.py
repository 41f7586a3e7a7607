"""The figures of one history: overview, program, affiliate, top affiliates, list, files and the portal are the same."""

import csv
import io
import random
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from uuid import uuid4

import pytest

from tests.support import owed_totals
from tests.support.api.decisions import adjust_commission, refund_by_id
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand, Partner
from tests.support.rows.program_rows import insert_click, insert_conversion, store_rate, time_ago
from tests.support.running.random_actions import RandomActions

# Home-currency cents of one minor unit: exact, so that sums of affiliates and of programs cannot differ by rounding.
_RATES = {"JOD": ("0.1", 1), "VUV": ("1", 100)}
_WITHOUT_RATE = "MUR"
_HOME = {"USD": 1, **{currency: cents for currency, (_, cents) in _RATES.items()}}
_ROWS = """
select affiliate_id::text, (occurred_at at time zone 'UTC')::date, currency,
  count(*) filter (where is_sale), count(*) filter (where type = 'LeadReward' and parent_id is null),
  coalesce(sum(amount_cents) filter (where is_sale), 0)::bigint,
  coalesce(sum(refunded_cents) filter (where is_sale), 0)::bigint, sum(commission_cents - reversed_cents)::bigint
from (select *, type in ('OneTime', 'Recurring') and parent_id is null as is_sale from conversion) c
where not is_test and status not in ('Denied', 'Invalidated') group by 1, 2, 3
"""
_CLICKS = """
select affiliate_id::text, (occurred_at at time zone 'UTC')::date, count(*) from click
where not is_duplicate and outcome <> 'blocked' group by 1, 2
"""
_COLUMNS = ("Clicks", "Leads", "Sales", "Conversion rate", "Revenue", "Commission", "Refunds", "EPC")
_NAMES = ("clicks", "leads", "sales", "revenue", "refunded", "commission")


class _History(RandomActions):
    """Random actions with sales in other currencies, prices changed by hand, refunds of old sales, and sandbox rows."""

    @property
    def _affiliate_id(self):
        return self.dice.choice([self.recruits.ben, self.recruits.ann])

    def sell_abroad(self) -> None:
        cents, at = self.dice.randint(1, 99_999), time_ago(days=self.dice.randint(0, 75))
        insert_conversion(
            self.brand,
            self._affiliate_id,
            currency=self.dice.choice([*_RATES, _WITHOUT_RATE]),
            amount_cents=cents,
            commission_cents=cents // 5,
            refunded_cents=self.dice.choice([0, 0, cents // 2, cents]),
            status=self.dice.choice(["Pending", "Approved", "Denied"]),
            type=self.dice.choice(["OneTime", "Recurring", "LeadReward"]),
            is_test=self.dice.random() < 0.2,
            occurred_at=at,
        )

    def click_earlier(self) -> None:
        at = time_ago(days=self.dice.randint(0, 75))
        insert_click(self.brand, self._affiliate_id, occurred_at=at, created_at=time_ago(days=0))

    def change_price(self) -> None:
        if rows := self.brand.rows("select id from conversion where parent_id is null order by id"):
            answer = adjust_commission(self.manager, self.dice.choice(rows)[0], self.dice.randint(0, 500))
            assert answer.status_code < 500

    def refund_older(self) -> None:
        if rows := self.brand.rows("select id from conversion where amount_cents > 1 order by id"):
            assert refund_by_id(self.manager, self.dice.choice(rows)[0], 1).status_code < 500


def _expect(brand: Brand, first: date, last: date, affiliates: set[str]) -> dict[str, object]:
    """Return the figures of some affiliates, added up from the rows; `rest` is the net revenue without a rate."""
    sums, rest, last_sale = dict.fromkeys(_NAMES, 0), 0, ""
    for affiliate_id, day, currency, sales, leads, revenue, refunded, commission in brand.rows(_ROWS):
        if affiliate_id in affiliates and first <= day <= last:
            sums["sales"] += sales
            sums["leads"] += leads
            last_sale = max(last_sale, day.isoformat()) if sales else last_sale
            if currency == _WITHOUT_RATE:
                rest += revenue - refunded
            for name, cents in (("revenue", revenue), ("refunded", refunded), ("commission", commission)):
                sums[name] += cents * _HOME.get(currency, 0)
    for affiliate_id, day, number in brand.rows(_CLICKS):
        if affiliate_id in affiliates and first <= day <= last:
            sums["clicks"] += number
    return sums | {"net": sums["revenue"] - sums["refunded"], "rest": rest, "last_sale": last_sale}


def _money(cents):
    return f"{'−' if cents < 0 else ''}{Decimal(abs(cents)) / 100:,.2f} USD"


def _rates(expected):
    """Return the conversion rate and the earnings per click; those below 1 USD have two decimals more."""
    if not expected["clicks"]:
        return "–", "–"
    percent, cents = (Decimal(expected[name]) / expected["clicks"] for name in ("sales", "commission"))
    rate = f"{round(100 * percent, 2):,f}".rstrip("0").removesuffix(".") if percent else "0"
    epc = round(cents, 4) / 100
    return f"{rate} %", f"{epc:,.{2 if abs(epc) >= 1 else 4}f} USD"


def _text(markup):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).replace("\xa0", " ").split())


def _read_figures(html):
    """Return the headlines, the amounts without a rate, the totals of the charts, and the rows of the table."""
    tiles = re.search(r'<dl class="tiles headlines">(.*?)</dl>', html, re.DOTALL)[1]
    headlines = {
        _text(label): _text(value) for label, value in re.findall(r"<dt.*?>(.*?)</dt><dd>(.*?)</dd>", tiles, re.DOTALL)
    }
    charts = dict(re.findall(r'id="chart-\d+">(\w+)</h3><b class="num">([^<]+)</b>', html.replace("\xa0", " ")))
    table = re.search(r'<table aria-label="Figures".*?</table>', html, re.DOTALL)
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table[0], re.DOTALL)[1:] if table else []
    cells = [[_text(cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL)] for row in rows]
    points = {}
    for label in charts:
        chart = html.partition(f">{label}</h3>")[2].partition("</section>")[0]
        points[label] = tuple(map(_text, re.findall(r"<b>([^<]+)</b>", chart.partition('class="slots"')[2])))
    return headlines, charts, cells, points


def _assert_shows(html, expected, page):
    headlines, charts, cells, points = _read_figures(html)
    for label, name in (("Clicks", "clicks"), ("Leads", "leads"), ("Sales", "sales")):
        assert headlines[label] == f"{expected[name]:,}", (page, label)
    for label, name in (("Revenue", "net"), ("Commission", "commission"), ("Refunds", "refunded")):
        assert headlines[label] == _money(expected[name]), (page, label)
    assert (headlines["Conversion rate"], headlines["EPC"]) == _rates(expected), page
    assert charts.items() <= headlines.items(), page
    by_column = dict(zip(_COLUMNS, zip(*cells, strict=True), strict=True)) if cells else {}
    assert {label: by_column[label] for label in points} == points, page
    for label in ("Clicks", "Leads", "Sales") if cells else ():
        total = sum(int(cell.replace(",", "")) for cell in by_column[label])
        assert f"{total:,}" == headlines[label], (page, label)
    rest = expected["rest"]
    assert (f"revenue {rest / 100:,.2f} {_WITHOUT_RATE}" in _text(html)) is (rest > 0), page


@pytest.fixture
def history(brand):
    """Return a brand with a random history, whose affiliates have email addresses of their own."""
    for back in range(80):
        for currency, (per_usd, _) in _RATES.items():
            store_rate(currency, per_usd, time_ago(days=back))
    actions = _History(brand, random.Random(26))
    for slug in ("ann", "ben"):
        email = f"{slug}-{uuid4().hex}@example.com"
        brand.rows(
            "update affiliate set email = %s, email_normalized = %s where id = %s returning 1",
            email,
            email,
            getattr(actions.recruits, slug),
        )
    for name in [*actions.names * 2, *actions.dice.choices(actions.names, k=30), "sell_abroad", "sell_by_ann"]:
        getattr(actions, name)()
    drain("sales", "refunds")
    return actions


@pytest.mark.parametrize("is_counted", [False, True])
def test_every_page_list_and_file_has_the_figures_of_the_rows(history, people, app, is_counted):
    brand, today = history.brand, datetime.now(UTC).date()
    if is_counted:
        owed_totals.fold_changes(brand)
        owed_totals.compute_owed_days(brand)
    ids = {slug: str(getattr(history.recruits, slug)) for slug in ("ann", "ben")}
    everyone = set(ids.values())
    viewer = people("Viewer")
    ranges = {
        "range=7d": (today - timedelta(days=6), today),
        "": (today - timedelta(days=29), today),
        "range=90d": (today - timedelta(days=89), today),
        f"range=own&from={today - timedelta(days=730)}&to={today}": (today - timedelta(days=730), today),
        f"range=own&from={today - timedelta(days=9)}&to={today - timedelta(days=3)}": (
            today - timedelta(days=9), today - timedelta(days=3),
        ),
    }  # fmt: skip
    for query, (first, last) in ranges.items():
        expected = _expect(brand, first, last, everyone)
        pages = {"/dashboard": expected, f"/dashboard/programs/{brand.programs[-1]}": expected}
        each = {slug: _expect(brand, first, last, {ids[slug]}) for slug in ids}
        pages |= {f"/dashboard/affiliates/{ids[slug]}": each[slug] for slug in ids}
        for page, figures in pages.items():
            _assert_shows(viewer.open(f"{page}?{query}").text, figures, (page, query))
        board = brand.get(f"/api/v1/leaderboard?metric=commission&from={first}&to={last}")
        assert board.status_code == 200, query
        keys = ("affiliateId", "clicks", "leads", "sales", "netRevenueCents", "commissionCents")
        assert {tuple(row[key] for key in keys) for row in board.json} == {
            (ids[slug], *(figures[name] for name in ("clicks", "leads", "sales", "net", "commission")))
            for slug, figures in each.items()
            if figures["commission"] > 0
        }, query

    for slug in ids:
        _assert_own_days(app, brand, ids[slug], today)
    if is_counted:
        _assert_totals(brand, viewer, ids)


def _assert_own_days(app, brand, affiliate_id, today):
    """Assert that the affiliate's own days of two years add up to the rows, by currency."""
    ((email,),) = brand.rows("select email from affiliate where id::text = %s", affiliate_id)
    person, counts, earned = Partner(app, email), dict.fromkeys(("clicks", "leads", "sales"), 0), {}
    for back in range(0, 730, 90):
        last = today - timedelta(days=back)
        days = person.get(f"/api/me/stats/daily?from={last - timedelta(days=89)}&to={last}").json
        for day in days:
            for name in counts:
                counts[name] += day[name]
            for currency, cents in day["commissionCentsByCurrency"].items():
                earned[currency] = earned.get(currency, 0) + cents
    expected = _expect(brand, date.min, date.max, {affiliate_id})
    assert counts == {name: expected[name] for name in counts}
    assert sum(cents * _HOME.get(currency, 0) for currency, cents in earned.items()) == expected["commission"]


def _assert_totals(brand, viewer, ids):
    """Assert that the list of affiliates and its file have the totals of all days."""
    listed = {row["id"]: row["totals"] for row in brand.get("/api/v1/affiliates?totals=true").json["items"]}
    file = viewer.open("/dashboard/affiliates/export.csv").text
    exported = {row["id"]: row for row in csv.DictReader(io.StringIO(file.lstrip("\ufeff")))}
    for slug, affiliate_id in ids.items():
        expected = _expect(brand, date.min, date.max, {affiliate_id})
        figures = [expected[name] for name in ("clicks", "sales", "net", "commission")]
        keys = ("clicks", "sales", "revenueCents", "commissionCents")
        assert [listed[affiliate_id][key] for key in keys] == figures, slug
        assert listed[affiliate_id]["lastSaleOn"] == expected["last_sale"], slug
        row = exported[affiliate_id]
        assert [int(row[name]) for name in ("clicks", "sales", "revenue_cents", "commission_cents")] == figures, slug
        assert row["last_sale_on"] == expected["last_sale"], slug
