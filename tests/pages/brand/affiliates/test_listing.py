"""The list of affiliates on the dashboard."""

import re

import pytest

from tests.support.rows.payroll import Payroll

_HERE = "/dashboard/affiliates"


def _names(html):
    return re.findall(r'<th scope="row" role="rowheader"><a [^>]*>([^<]+)</a>', html)


@pytest.fixture
def campaign(brand):
    """The brand with one campaign and three affiliates."""
    brand.program(name="Spring")
    brand.affiliate("ann", full_name="Ann <Ek>", tags=["video", "north"])
    brand.affiliate("ben", full_name="Ben", status="Paused", source="Invite")
    brand.affiliate("cleo", full_name="", is_test=True)
    return brand


def test_affiliates_are_listed_with_their_data(campaign, people):
    html = people("Viewer").open(_HERE).text

    assert '<table aria-label="Affiliates" role="table">' in html
    assert _names(html) == ["cleo@example.com", "Ben", "Ann &lt;Ek&gt;"]
    assert "video, north" in html
    assert '<span class="chip run">Paused</span>' in html
    assert '<span class="chip test">Test</span>' in html
    assert "invited" in html


def test_filter_is_kept_in_address_and_form(campaign, people):
    visitor = people()
    html = visitor.open(f"{_HERE}?q=BEN&status=Paused&sort=name").text

    assert _names(html) == ["Ben"]
    assert 'value="BEN"' in html
    assert '<option value="Paused" selected>' in html
    assert '<option value="name" selected>' in html
    assert _names(visitor.open(f"{_HERE}?sort=name").text) == ["cleo@example.com", "Ann &lt;Ek&gt;", "Ben"]
    assert _names(visitor.open(f"{_HERE}?sort=oldest").text) == ["Ann &lt;Ek&gt;", "Ben", "cleo@example.com"]


def test_open_balance_is_listed_with_its_affiliate(app, flask, visitor):
    payroll = Payroll.create(app)
    payroll.affiliate("ben")
    payroll.sell("ben", 617_250)
    payroll.sell("ben", 5_000, "JPY")
    visitor.open(flask.json("sign-in", "owner", "--org", payroll.brand.id)["url"])
    html = visitor.open(_HERE).text

    assert "1,234.50 USD" in html
    assert "1,000 JPY" in html


def test_older_link_keeps_the_filter(brand, people):
    brand.program()
    for number in range(52):
        brand.affiliate(f"number-{number}", full_name=f"N{number}", status="Paused" if number else "Approved")
    visitor = people()
    first = visitor.open(f"{_HERE}?status=Paused&sort=oldest").text
    older = re.search(r'href="([^"]+)" rel="next"', first)[1].replace("&amp;", "&")

    assert "status=Paused" in older
    assert _names(visitor.open(older).text) == ["N51"]


def test_empty_list_and_empty_filter_show_different_texts(brand, people):
    visitor = people()
    assert "No affiliates yet" in visitor.open(_HERE).text
    assert "No affiliates yet" in visitor.open(f"{_HERE}?sort=name").text
    assert "Nobody is here" in visitor.open(f"{_HERE}?q=zoe").text


@pytest.mark.parametrize("query", ["status=x", "sort=x", "programId=x", "cursor=x", "q=%00", f"q={'x' * 201}"])
def test_invalid_filter_shows_an_error(campaign, people, query):
    answer = people().open(f"{_HERE}?{query}")

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "<h1>Affiliates</h1>" in answer.text


def test_number_of_applications_is_shown_with_a_link(campaign, people):
    campaign.affiliate("new", status="Pending", approved_at=None)

    assert re.search(r"Applications <span class=\"chip wait\">1</span>", people().open(_HERE).text)


def test_other_brands_affiliates_are_not_listed(campaign, people, rival):
    rival.program()
    rival.affiliate("eva", full_name="Eva Lindqvist")

    assert "Lindqvist" not in people().open(_HERE).text
