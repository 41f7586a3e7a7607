"""The figures of a range of days on the overview and on a program's page."""

import re
from datetime import timedelta
from html import unescape

import pytest

from domain.programs.days import DayRange
from models import db
from pages.times import day_words
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

_OWN = "range=own&from={}&to={}"


@pytest.fixture
def ada(brand):
    """Return the affiliate of the brand's first campaign."""
    return brand.affiliate("ada", program_id=brand.program())


@pytest.fixture
def pages(brand, ada):
    """The addresses of the screens with figures."""
    return ("/dashboard", f"/dashboard/programs/{brand.programs[0]}", f"/dashboard/affiliates/{ada}")


def _text(markup):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).replace("\xa0", " ").split())


def _headlines(html):
    """Return each headline with its change, as a screen reader says them."""
    tiles = re.search(r'<dl class="tiles headlines">(.*?)</dl>', html, re.DOTALL)[1]
    tiles = re.sub(r'<span[^>]* aria-hidden="true">[^<]*</span>', "", tiles)
    return {
        _text(label): (_text(value), _text(change))
        for label, value, change in re.findall(r"<dt.*?>(.*?)</dt><dd>(.*?)</dd><dd.*?>(.*?)</dd>", tiles, re.DOTALL)
    }


def _chart(html, label):
    """Return the texts of a chart's points, and the markup around them."""
    assert f">{label}</h3>" in html, label
    plot = html.partition(f">{label}</h3>")[2].partition("</section>")[0]
    return [_text(point) for point in re.findall(r"<label.*?>(.*?)</label>", plot)], plot


def _list_charts(html):
    return re.findall(r'<svg class="chart"[^>]* aria-label="(\w+): ', html)


def test_headlines_show_both_periods_and_the_change(brand, ada, pages, people):
    for days in (1, 2, 3, 40):
        insert_conversion(brand, ada, occurred_at=time_ago(days=days))
    insert_conversion(brand, ada, occurred_at=time_ago(days=2), refunded_cents=5_000, reversed_cents=500)
    insert_conversion(brand, ada, occurred_at=time_ago(days=41), refunded_cents=10_000, reversed_cents=1_000)
    for days in (1, 1, 2, 2, 3, 45, 45):
        insert_click(brand, ada, occurred_at=time_ago(days=days), created_at=time_ago(days=0))

    for page in pages:
        assert _headlines(people("Viewer").open(page).text) == {
            "Clicks": ("5", "up 150 % vs 2"),
            "Leads": ("0", "no earlier value to compare with"),
            "Sales": ("4", "up 100 % vs 2"),
            "Conversion rate": ("80 %", "down 20 % vs 100 %"),
            "Revenue": ("350.00 USD", "up 250 % vs 100.00 USD"),
            "Commission": ("35.00 USD", "up 250 % vs 10.00 USD"),
            "Refunds": ("50.00 USD", "down 50 % vs 100.00 USD"),
            "EPC": ("7.00 USD", "up 40 % vs 5.00 USD"),
        }, page


def test_today_counts_in_the_figures_but_not_in_their_changes(brand, ada, pages, people):
    for days in (0, 0, 1, 2, 31):
        insert_conversion(brand, ada, occurred_at=time_ago(days=days))
    insert_conversion(brand, ada, occurred_at=time_ago(days=30))  # the last day before, compared with today
    visitor, today = people("Viewer"), time_ago(days=0).date()

    for page in pages:
        html = visitor.open(page).text
        assert _headlines(html)["Sales"] == ("4", "up 100 % 2 vs 1"), page
        days = [day_words.describe_range(DayRange(*(today - timedelta(days=age) for age in ages)))
                for ages in ((29, 0), (29, 1), (59, 31))]  # fmt: skip
        expected = "{}. Today is not complete, so changes compare {} with {}.".format(*days)
        assert expected in _text(html), page
        html = visitor.open(f"{page}?{_OWN.format(today, today)}").text
        assert _headlines(html)["Sales"] == ("2", "no earlier value to compare with"), page
        assert "Today is not complete, so there is no change to show yet." in _text(html), page
        html = visitor.open(f"{page}?{_OWN.format(today - timedelta(days=2), today - timedelta(days=1))}").text
        assert _headlines(html)["Sales"] == ("2", "no earlier value to compare with"), page
        assert "Today is not complete" not in _text(html), page


def test_more_refunds_are_marked_as_bad_and_the_arrow_is_not_the_only_sign(brand, ada, people):
    insert_conversion(brand, ada, refunded_cents=2_000)
    insert_conversion(brand, ada, occurred_at=time_ago(days=40), refunded_cents=1_000)
    insert_conversion(brand, ada, occurred_at=time_ago(days=40))
    html = people().open("/dashboard").text

    changes = re.findall(
        r'<span class="change (\w*)"><span aria-hidden="true">(.)</span><span class="unseen">(\w+)<', html
    )
    assert ("bad", "▼", "down") in changes  # sales
    assert ("bad", "▲", "up") in changes  # refunds
    assert ("", "▼", "down") in changes  # commission
    assert '<abbr title="Earnings per click: the commission divided by the number of clicks">EPC</abbr>' in html


def test_small_earnings_per_click_have_more_decimals(brand, ada, people):
    insert_conversion(brand, ada, commission_cents=1)
    for _ in range(3):
        insert_click(brand, ada)

    assert _headlines(people().open("/dashboard").text)["EPC"][0] == "0.0033 USD"


def test_charts_have_a_value_for_each_day_and_the_running_day_apart(brand, ada, pages, people):
    insert_conversion(brand, ada, occurred_at=time_ago(days=2))
    insert_conversion(brand, ada, occurred_at=time_ago(days=32))
    insert_conversion(brand, ada, occurred_at=time_ago(days=32))
    insert_conversion(brand, ada, occurred_at=time_ago(hours=0))

    for page in pages:
        html = people("Viewer").open(page).text
        assert _list_charts(html) == ["Revenue", "Sales", "Commission"], page
        points, plot = _chart(html, "Sales")
        assert len(points) == 30
        day = time_ago(days=2).date()
        assert points[-3] == f"1 {day.day} {day:%b} {day.year} before: 2"
        assert points[-1].startswith("1 ")
        assert ", so far" in points[-1]
        assert not any("so far" in point for point in points[:-1])
        assert plot.count('<rect class="running"') == 1
        assert plot.count("<polyline") == 1
        assert html.count('<table aria-label="Figures" role="table">') == 1
        assert "Today is not complete, so changes compare " in _text(html)


def test_points_of_a_chart_are_one_tab_stop_and_need_no_script(brand, ada, people):
    insert_conversion(brand, ada)
    _, plot = _chart(people().open("/dashboard").text, "Sales")

    assert set(re.findall(r'<input type="radio" name="([^"]+)">', plot)) == {"Sales"}
    assert len(re.findall(r"<label[^>]*><input type=\"radio\"", plot)) == 30
    assert 'role="radiogroup"' in plot


def test_chart_shows_the_period_before_if_the_period_is_empty(brand, ada, people):
    insert_conversion(brand, ada, occurred_at=time_ago(days=40))
    visitor = people()
    html = visitor.open("/dashboard").text

    assert _list_charts(html) == ["Revenue", "Sales", "Commission"]
    assert _headlines(html)["Sales"] == ("0", "down 100 % vs 1")
    assert "No clicks, leads or sales in these days." in visitor.open("/dashboard?range=7d").text


@pytest.mark.parametrize(("span", "count"), [(0, 1), (91, 92), (150, None), (365, None), (730, None)])
def test_charts_of_long_ranges_are_grouped(brand, ada, people, span, count):
    insert_conversion(brand, ada)
    first, last = (time_ago(days=days).date() for days in (span, 0))
    insert_conversion(brand, ada, occurred_at=time_ago(days=span))
    html = people().open(f"/dashboard?{_OWN.format(first, last)}").text
    points, _ = _chart(html, "Sales")

    assert count is None or len(points) == count
    assert len(points) <= 92
    sales = sum(int(point.split()[0]) for point in points)
    assert sales == (1 if span == 0 else 2)
    assert str(first.day) in points[0]
    table = re.search(r'<table aria-label="Figures" role="table">(.*?)</table>', html, re.DOTALL)[1]
    assert table.count("<tr") == 1 + len(points)


def test_amounts_are_converted_and_the_rest_is_one_line(brand, ada, pages, people):
    at = time_ago(days=3)
    insert_conversion(brand, ada, occurred_at=at, amount_cents=120_000, refunded_cents=20_000, reversed_cents=250)
    insert_conversion(brand, ada, occurred_at=at, amount_cents=5, commission_cents=1, refunded_cents=2, currency="XPF")
    insert_conversion(brand, brand.affiliate("ben", program_id=brand.program()), occurred_at=at, amount_cents=7_000)

    for page, revenue, commission in zip(
        pages, ("1,070.00 USD", *["1,000.00 USD"] * 2), ("17.50 USD", *["7.50 USD"] * 2), strict=True
    ):
        html = people("Viewer").open(page).text
        headlines = _headlines(html)
        assert (headlines["Revenue"][0], headlines["Commission"][0]) == (revenue, commission), page
        points, _ = _chart(html, "Revenue")
        assert points[-4].startswith(revenue), page
        assert f'<b class="num">{revenue}</b>' in html, page
        rest = "there is no exchange rate: revenue 3 XPF; refunds 2 XPF; commission 1 XPF."
        assert _text(html).count(rest) == 1, page


def test_negative_amounts_are_drawn_below_zero(brand, ada, people):
    insert_conversion(brand, ada, amount_cents=0, commission_cents=500)
    with db.unit_of_work(brand.id):
        db.db.stage(
            "insert into day_change (organization_id, program_id, affiliate_id, day, currency, commission_cents)"
            " values (%s, %s, %s, current_date - 2, 'USD', -99999999)",
            (brand.id, brand.programs[0], ada),
        )
    html = people().open("/dashboard").text

    assert _headlines(html)["Commission"][0] == "−999,994.99 USD"
    points, plot = _chart(html, "Commission")
    assert points[-3].startswith("−999,999.99 USD")
    assert ">−1M</text>" in plot


def test_wrong_range_is_explained_and_the_page_stays(brand, ada, pages, people):
    insert_conversion(brand, ada, occurred_at=time_ago(days=3))
    visitor = people("Viewer")
    for page in pages:
        for query, message in (
            ("range=forever", "This date range does not exist."),
            ("range=own&from=2026-11-02&to=2026-11-01", "The start date is after the end date."),
            ("range=own&from=%00&to=", "Enter a date as YYYY-MM-DD."),
        ):
            answer = visitor.open(f"{page}?{query}")
            assert answer.status_code == 400, query
            alert = re.search(r'role="alert"[^>]*>(.*?)</div>', answer.text, re.DOTALL)[1]
            assert message in _text(alert), query
            assert "Showing the last 30 days instead." in _text(alert)
            assert "<title>Error:" in answer.text
            assert _list_charts(answer.text) == ["Revenue", "Sales", "Commission"]


def test_range_is_a_form_whose_state_is_in_the_address(brand, ada, pages, people):
    visitor = people("Viewer")
    for page in pages:
        html = visitor.open(f"{page}?{_OWN.format('2026-02-01', '2026-02-28')}").text
        forms = re.findall(r'<form[^>]* method="get" action="([^"]+)">', html)
        assert forms.count(page) == 2
        assert '<input id="from" name="from" type="date" value="2026-02-01" required>' in html
        assert "Feb 2026, compared with 4–31 Jan 2026." in _text(html)
        names = re.findall(r'<button name="range" value="([^"]+)"', html)
        assert names == ["7d", "30d", "90d", "month", "last-month", "year"]
        for name in names:
            html = visitor.open(f"{page}?range={name}").text
            assert f'<button name="range" value="{name}" aria-current="true">' in html


def test_days_are_named_in_utc_with_their_start_in_the_organizations_zone(brand, ada, people):
    assert "Days are in UTC. " in _text(people().open("/dashboard").text) + " "
    brand.rows("update organization set timezone = 'Asia/Tokyo' where id = %s returning 1", brand.id)

    assert "Days are in UTC (they start at 09:00 Asia/Tokyo)." in _text(people().open("/dashboard").text)


def test_charts_are_shown_on_every_plan(app, flask):
    free = Brand.create(app, plan="Free")
    insert_conversion(free, free.affiliate("ada", program_id=free.program()))
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", free.id, "--role", "Viewer")["url"])

    for page in ("/dashboard", f"/dashboard/programs/{free.programs[0]}"):
        answer = visitor.open(page)
        assert answer.status_code == 200, page
        assert _list_charts(answer.text) == ["Revenue", "Sales", "Commission"], page


def test_top_affiliates_are_those_of_the_range(brand, ada, pages, people):
    owner = people()
    for page in pages:
        assert "Top affiliates" not in owner.open(page).text, page
    insert_conversion(brand, ada, occurred_at=time_ago(days=40), refunded_cents=1_000)
    insert_click(brand, ada, occurred_at=time_ago(days=40), created_at=time_ago(days=0))
    days = time_ago(days=40).date()

    for page in pages[:2]:
        assert "Top affiliates" not in owner.open(page).text, page
        html = owner.open(f"{page}?{_OWN.format(days, days + timedelta(days=1))}").text
        table = re.search(r'<table aria-label="Top affiliates" role="table">(.*?)</table>', html, re.DOTALL)[1]
        assert re.findall(r'href="/dashboard/affiliates/([^"]+)"', table) == [str(ada)], page
        assert _text(table).startswith("# Affiliate Clicks Sales Revenue Commission 1 ")
        assert _text(table).endswith(" 1 1 90.00 USD 10.00 USD"), page
    other = f"/dashboard/programs/{brand.program()}"
    assert "Top affiliates" not in owner.open(f"{other}?{_OWN.format(days, days)}").text
