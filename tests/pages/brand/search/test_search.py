"""Search at the dashboard."""

from urllib.parse import quote

import pytest

from tests.support.rows.program_rows import insert_conversion

_HERE = "/dashboard/search"


@pytest.fixture
def shop(brand):
    """Return a brand with two affiliates and a sale."""
    brand.program()
    ada = brand.affiliate("ada", full_name="Ada <Ek>")
    brand.affiliate("ben", full_name="Ben Osei")
    insert_conversion(brand, ada, external_event_id="Order-77")
    return brand


def test_results_are_grouped_with_links(shop, people):
    html = people("Viewer").open(f"{_HERE}?q=ada").text

    assert '<table aria-label="Affiliates" role="table">' in html
    assert '<table aria-label="Conversions" role="table">' in html
    assert "Ada &lt;Ek&gt;" in html
    assert "Order-77" in html
    assert 'href="/dashboard/affiliates?q=ada"' in html
    assert "Payouts, table" not in html
    assert "Ben Osei" not in html


def test_order_number_is_found(shop, people):
    html = people("Viewer").open(f"{_HERE}?q=Order-77").text

    assert "Order-77</span>" in html


def test_id_leads_to_the_record(shop, people):
    visitor = people("Viewer")
    for table, page in (("affiliate", "affiliates"), ("conversion", "conversions")):
        for (row_id,) in shop.rows(f"select id::text from {table}"):
            answer = visitor.open(f"{_HERE}?q={row_id}")
            assert (answer.status_code, answer.location) == (303, f"/dashboard/{page}/{row_id}")


def test_page_without_text_says_what_to_enter(shop, people):
    for query in ("", "?q=", "?q=%20"):
        html = people().open(f"{_HERE}{query}").text
        assert "Find anything" in html
        assert "autofocus" in html


@pytest.mark.parametrize("text", ["nobody", "%", "_", "' or 1=1 --", "<script>", "\U0010ffff", "😀"])
def test_text_without_results_leads_to_all_affiliates(shop, people, text):
    answer = people().open(f"{_HERE}?q={quote(text)}")

    assert answer.status_code == 200
    assert "No results" in answer.text
    assert "<script>" not in answer.text.partition("<body>")[2]


@pytest.mark.parametrize("query", ["q=%00", f"q={'x' * 10_000}"])
def test_invalid_text_shows_an_error(shop, people, query):
    answer = people().open(f"{_HERE}?{query}")

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_other_brands_records_are_not_found(shop, people, rival):
    rival.program()
    theirs = rival.affiliate("eva", full_name="Eva Lindqvist")
    visitor = people()

    assert "Lindqvist" not in visitor.open(f"{_HERE}?q=eva").text
    assert visitor.open(f"{_HERE}?q={theirs}").status_code == 200
