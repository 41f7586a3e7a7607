"""The list of conversions on the dashboard. Source: the pages' interface, "Conversions"."""

import csv
import io
import re
from datetime import timedelta

import pytest

from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.running.hours import start_of_test

_HERE = "/dashboard/conversions"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign."""
    brand.program(name="Spring")
    return brand


@pytest.fixture
def sales_by_name(campaign):
    """The conversions of the campaign's two affiliates, by name."""
    brand = campaign
    ada, ben = brand.affiliate("ada", full_name="Ada <Ek>"), brand.affiliate("ben", full_name="")
    return {
        "first": insert_conversion(brand, ada, external_event_id="order-1", created_at=time_ago(hours=2)),
        "second": insert_conversion(
            brand, ben, external_event_id="order-2", currency="JPY", status="Approved", type="Recurring", sub_id="news"
        ),
    }


def _rows(html):
    return re.findall(rf'<th scope="row" role="rowheader"><a href="{_HERE}/([0-9a-f-]+)">', html)


def test_conversions_are_listed_with_links(campaign, sales_by_name, people):
    visitor = people("Viewer")
    html = visitor.open(_HERE).text

    assert '<table aria-label="Conversions" role="table">' in html
    assert _rows(html) == [str(sales_by_name["second"]), str(sales_by_name["first"])]
    assert "Ada &lt;Ek&gt;" in html
    assert "ben@example.com" in html
    assert "100.00 USD" in html
    assert "10,000 JPY" in html
    assert "Spring" in html
    assert '<span class="chip wait">Pending</span>' in html
    assert f'<time datetime="{(start_of_test() + timedelta(days=29)):%Y-%m-%d}">' in html
    assert visitor.open(f"{_HERE}/{_rows(html)[0]}").status_code == 200


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("status=Pending", ["first"]),
        ("status=Pending&sort=payable", ["first"]),
        ("q=ADA", ["first"]),
        ("q=order-2", ["second"]),
        ("subId=news", ["second"]),
        ("sort=oldest", ["first", "second"]),
        ("kind=lead", []),
        ("until=2020-01-01", []),
        ("since=2020-01-01", ["second", "first"]),
        ("status=&programId=&q=&kind=&since=&until=&sort=newest", ["second", "first"]),
    ],
)
def test_filter_is_kept_in_the_address(campaign, sales_by_name, people, query, names):
    html = people().open(f"{_HERE}?{query}").text

    assert _rows(html) == [str(sales_by_name[name]) for name in names]
    assert ("No conversion matches this filter" in html) == (not names)


def test_filter_is_kept_in_the_form(campaign, sales_by_name, people):
    html = people().open(f"{_HERE}?status=Pending&programId={campaign.programs[-1]}&q=%22a").text

    assert '<form class="filters" method="get"' in html
    assert '<option value="Pending" selected>' in html
    assert f'<option value="{campaign.programs[-1]}" selected>Spring' in html
    assert 'value="&#34;a"' in html
    for label in ("Status", "Program"):
        assert re.search(rf"<label for=\"\w+\">{label}</label>", html)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=x", "status"),
        ("programId=x", "programId"),
        ("since=soon", "since"),
        ("sort=payable", "sort"),
        ("q=%00", "q"),
        ("affiliateId=x", "affiliateId"),
    ],
)
def test_invalid_filter_shows_an_error_at_its_field(campaign, sales_by_name, people, query, field):
    visitor = people()
    answer = visitor.open(f"{_HERE}?{query}")

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "<title>Error:" in answer.text
    assert re.search(rf'id="{field}"[^>]* aria-invalid="true"', answer.text)
    file = visitor.open(f"{_HERE}/export.csv?{query}")
    assert (file.status_code, file.headers["Location"].partition("?")[0]) == (303, _HERE)


def test_invalid_cursor_shows_an_error(campaign, sales_by_name, people):
    answer = people().open(f"{_HERE}?cursor=x")

    assert answer.status_code == 400
    assert "This is not a cursor of this list." in answer.text


def test_older_link_keeps_the_filter(campaign, sales_by_name, people):
    (affiliate,) = campaign.rows("select id from affiliate where email like 'ada%%'")[0]
    sales_by_name = [
        insert_conversion(campaign, affiliate, status="Paid", created_at=time_ago(minutes=60 - number))
        for number in range(52)
    ]
    visitor = people()
    first = visitor.open(f"{_HERE}?status=Paid&sort=oldest").text
    older = re.search(r'href="([^"]+)" rel="next">Next page', first)[1].replace("&amp;", "&")

    assert "status=Paid" in older
    assert _rows(first) + _rows(visitor.open(older).text) == [str(sale_id) for sale_id in sales_by_name]


def test_list_is_exported_as_a_file(campaign, sales_by_name, people):
    visitor = people("Viewer")
    link = re.search(rf'href="({_HERE}/export.csv[^"]*)"', visitor.open(f"{_HERE}?status=Pending&kind=").text)[1]
    file = visitor.open(link)

    assert link == f"{_HERE}/export.csv?status=Pending"
    assert file.content_type == "text/csv; charset=utf-8"
    assert "attachment" in file.headers["Content-Disposition"]
    assert [row["id"] for row in csv.DictReader(io.StringIO(file.text, newline=""))] == [str(sales_by_name["first"])]
    assert campaign.rows("select count(*) from audit_entry where action = 'conversions.exported'") == [(1,)]


def test_empty_list_shows_the_next_step(brand, people):
    html = people().open(_HERE).text

    assert "No conversions yet" in html
    assert '<table aria-label="Conversions" role="table">' not in html


def test_other_brands_conversions_are_not_listed(campaign, sales_by_name, people, rival):
    rival.program()
    rivals_conversion = insert_conversion(rival, rival.affiliate("eva", full_name="Eva Lindqvist"))

    visitor = people()
    assert "Lindqvist" not in visitor.open(_HERE).text
    assert visitor.open(f"{_HERE}/{rivals_conversion}").status_code == 404
