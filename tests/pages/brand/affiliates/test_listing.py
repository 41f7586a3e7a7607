"""The list of affiliates on the dashboard."""

import re

import pytest

from tests.support import owed_totals
from tests.support.rows.program_rows import insert_conversion

_HERE = "/dashboard/affiliates"
_GROUP_RATE = {"commissionType": "Percentage", "commissionValue": 30}


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
    assert "Spring" in html


def test_filter_is_kept_in_address_and_form(campaign, people):
    visitor = people()
    html = visitor.open(f"{_HERE}?q=BEN&status=Paused&sort=name").text

    assert _names(html) == ["Ben"]
    assert 'value="BEN"' in html
    assert '<option value="Paused" selected>' in html
    assert '<option value="name" selected>' in html
    assert _names(visitor.open(f"{_HERE}?sort=name").text) == ["cleo@example.com", "Ann &lt;Ek&gt;", "Ben"]
    assert _names(visitor.open(f"{_HERE}?sort=oldest").text) == ["Ann &lt;Ek&gt;", "Ben", "cleo@example.com"]


def test_totals_are_listed_with_amounts_without_a_rate_and_their_time(campaign, people):
    (ann,) = campaign.rows("select id from affiliate where email like 'ann%%'")[0]
    insert_conversion(campaign, ann, amount_cents=123_450, commission_cents=12_345)
    insert_conversion(campaign, ann, currency="XPF", amount_cents=777, commission_cents=77)
    visitor = people()
    assert "First totals appear within five minutes." in visitor.open(_HERE).text
    owed_totals.fold_changes(campaign)
    owed_totals.compute_owed_days(campaign)
    html = visitor.open(f"{_HERE}?sort=-revenue").text

    assert _names(html)[0] == "Ann &lt;Ek&gt;"
    for text in ("1,234.50 USD", "+ 777 XPF", "123.45 USD", "+ 77 XPF", "As of"):
        assert text in html, text
    assert 'class="num" aria-sort="descending"' in html
    assert 'href="/dashboard/affiliates?sort=revenue"' in html  # pressed again, it turns the order round


def test_each_column_sorts_in_both_directions(campaign, people):
    visitor = people()
    for key in ("name", "clicks", "sales", "revenue", "commission", "lastSale"):
        for sort in (key, f"-{key}"):
            answer = visitor.open(f"{_HERE}?sort={sort}&status=Approved")
            assert answer.status_code == 200
            assert set(_names(answer.text)) == {"Ann &lt;Ek&gt;", "cleo@example.com"}


def test_every_view_has_an_address_and_is_marked(campaign, people):
    visitor = people()
    tabs = re.findall(
        r'<li><a href="(/dashboard/affiliates[^"]*)"( aria-current="page")?>([^<]+)</a></li>', visitor.open(_HERE).text
    )
    views = {label: address.replace("&amp;", "&") for address, _, label in tabs if label != "Affiliates"}

    assert list(views) == ["All", "Pending", "Approved", "Top by revenue", "No sales in 90 days"]
    for label, address in views.items():
        html = visitor.open(address).text
        assert f'aria-current="page">{label}</a></li>' in html, label
    assert _names(visitor.open(views["No sales in 90 days"]).text) != []


def test_affiliates_without_recent_sales_are_sorted_by_their_last_sale_alone(campaign, people):
    visitor = people()
    query = "status=Approved&noSalesForDays=90"
    html = visitor.open(f"{_HERE}?{query}&sort=lastSale").text

    heads = [link.replace("&amp;", "&") for link in re.findall(r'<a class="sort" href="([^"]+)"', html)]
    options = re.findall(r'<select id="sort".*?</select>', html, re.DOTALL)[0]
    assert heads == [f"{_HERE}?{query}&sort=-lastSale"]
    assert re.findall(r'<option value="([^"]+)"', options) == ["-lastSale", "lastSale"]
    for address in heads:
        assert visitor.open(address).status_code == 200


def _press(visitor, html, action, ids, **fields):
    """Send the bulk form of a page with these ids, as a browser does."""
    form = re.search(
        r'<form class="pad bulk" method="post" action="([^"]+)".*?name="_key" value="([^"]+)"', html, re.DOTALL
    )
    return visitor.send(form[1].replace("&amp;", "&"), {"_key": form[2], "action": action, "ids": ids, **fields})


def test_selected_affiliates_are_changed_and_the_filter_is_kept(campaign, people):
    ids = [str(affiliate_id) for (affiliate_id,) in campaign.rows("select id from affiliate order by email")]
    visitor = people("Manager")
    html = visitor.open(f"{_HERE}?sort=name").text
    answer = _press(visitor, html, "pause", ids)

    assert answer.status_code == 303
    assert answer.location.startswith(f"{_HERE}?sort=name&done=bulk")
    page = visitor.open(answer.location).text
    assert "Paused: 2 affiliates." in page
    assert "1 had another status." in page
    assert campaign.rows("select count(*) from affiliate where status = 'Paused'") == [(3,)]
    assert "done=bulk" not in re.search(r'class="sort" href="([^"]+)"', page)[1]


def test_tags_and_groups_are_given_to_selected_affiliates(campaign, people):
    ids = [str(affiliate_id) for (affiliate_id,) in campaign.rows("select id from affiliate order by email")]
    body = {"name": "Gold"} | _GROUP_RATE
    group = campaign.post(f"/api/v1/programs/{campaign.programs[-1]}/partner-groups", body).json["id"]
    visitor = people("Manager")
    html = visitor.open(_HERE).text

    assert _press(visitor, html, "tag", ids[:2], tag="vip").status_code == 303
    assert _press(visitor, visitor.open(_HERE).text, "group", ids[:1], group=group).status_code == 303
    assert campaign.rows("select count(*) from affiliate where 'vip' = any(tags)") == [(2,)]
    assert campaign.rows("select partner_group_id::text from affiliate where id = %s", ids[0]) == [(group,)]
    refused = _press(visitor, visitor.open(_HERE).text, "tag", ids[:1], tag=" ")
    assert refused.status_code == 422
    assert f'value="{ids[0]}" form="bulk" checked' in refused.text
    nothing = _press(visitor, html, "pause", [])
    assert (nothing.status_code, "Select at least one affiliate." in nothing.text) == (422, True)


def test_bulk_form_of_several_programs_says_how_to_change_the_group(campaign, people):
    first = campaign.programs[0]
    campaign.post(f"/api/v1/programs/{first}/partner-groups", {"name": "Gold"} | _GROUP_RATE)
    visitor, hint = people("Manager"), "To move affiliates to a group, filter by their program first."
    assert hint not in visitor.open(_HERE).text
    campaign.program(name="Autumn", slug="autumn")

    assert hint in visitor.open(_HERE).text
    filtered = visitor.open(f"{_HERE}?programId={first}").text
    assert hint not in filtered
    assert "Move to group" in filtered


def test_form_that_is_sent_twice_acts_once(campaign, people):
    (ben,) = campaign.rows("select id from affiliate where email like 'ann%%'")[0]
    visitor = people("Manager")
    html = visitor.open(_HERE).text

    answers = [_press(visitor, html, "pause", [str(ben)]) for _ in range(2)]

    assert [answer.location for answer in answers] == [answers[0].location] * 2
    assert campaign.rows("select count(*) from audit_entry where action = 'affiliate.bulk_paused'") == [(1,)]


def test_viewer_sees_no_selection(campaign, people):
    html = people("Viewer").open(_HERE).text

    assert 'name="ids"' not in html
    assert 'id="bulk"' not in html
    assert "Export CSV" in html


def test_export_button_keeps_the_filter_and_selected_rows_are_exported(campaign, people):
    (ann,) = campaign.rows("select id from affiliate where email like 'ann%%'")[0]
    visitor = people("Viewer")
    assert f'href="{_HERE}/export.csv?status=Paused"' in visitor.open(f"{_HERE}?status=Paused").text

    paused = visitor.open(f"{_HERE}/export.csv?status=Paused").text
    assert (paused.count("\r\n"), "ben@example.com" in paused) == (2, True)
    selected = visitor.open(f"{_HERE}/export.csv?ids={ann}&_key=x&tag=").text
    assert (selected.count("\r\n"), "ann@example.com" in selected) == (2, True)


def test_export_of_no_selected_row_exports_nothing(campaign, people):
    visitor = people("Manager")
    assert 'name="action" value="export"' in visitor.open(_HERE).text

    answer = visitor.open(f"{_HERE}/export.csv?_key=x&tag=&action=export")

    assert (answer.status_code, answer.location.partition("?")[0]) == (303, _HERE)
    assert "Nothing to export. Selected: 0 affiliates." in visitor.open(answer.location).text
    assert campaign.rows("select count(*) from audit_entry where action = 'affiliates.exported'") == [(0,)]


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
    assert "No affiliates match" in visitor.open(f"{_HERE}?q=zoe").text


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
