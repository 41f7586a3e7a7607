"""Formats of values on pages. Source: core spec, section 2 (minor units); the pages' interface, "Every page"."""

from datetime import UTC, date, datetime, timedelta

import pytest
from flask import g

from domain.organization import time_zones
from pages import template_filters


def test_share_names_the_order_of_its_sale():
    assert template_filters.order_id("order-7:override:01a2048b757b7f2186bc4fc8c25811e4") == "order-7"
    assert template_filters.order_id("order-7") == "order-7"
    assert template_filters.order_id("switch:rewardful:0005") == "0005"


def test_time_names_its_zone_and_is_machine_readable():
    at = datetime(2026, 12, 2, 9, 5, 7, tzinfo=UTC)

    assert template_filters.format_time(at) == '<time datetime="2026-12-02T09:05:07Z">2 Dec 2026, 09:05 UTC</time>'
    assert template_filters.format_time("2026-12-02T10:05:07.123+01:00") == template_filters.format_time(at)
    assert template_filters.format_time(None) == template_filters.format_day(None) == "–"


@pytest.fixture
def berlin(app):
    """A page in the zone Europe/Berlin."""
    with app.test_request_context():
        g.page_zone = time_zones.find_zone("Europe/Berlin")
        yield


def test_time_is_shown_in_the_zone_of_the_page(berlin):
    at = datetime(2026, 12, 31, 23, 5, 7, tzinfo=UTC)

    assert (
        template_filters.format_time(at)
        == '<time datetime="2026-12-31T23:05:07Z">1 Jan 2027, 00:05 Europe/Berlin</time>'
    )
    assert template_filters.describe_time(at) == "1 Jan 2027, 00:05 Europe/Berlin"
    assert template_filters.format_day(at) == (
        '<span title="1 Jan 2027, 00:05 Europe/Berlin"><time datetime="2027-01-01">1 Jan 2027</time></span>'
    )
    assert 'datetime="2026-12-31T23:05:07Z" title="2027-01-01 00:05:07 Europe/Berlin"' in template_filters.format_age(
        at
    )
    assert template_filters.format_day("2026-12-31") == '<time datetime="2026-12-31">31 Dec 2026</time>'


def test_ambiguous_hour_names_its_offset(berlin):
    times = [template_filters.describe_time(datetime(2026, 10, 25, hour, 30, tzinfo=UTC)) for hour in (0, 1, 2)]

    assert times == [
        "25 Oct 2026, 02:30 Europe/Berlin (UTC+02:00)",
        "25 Oct 2026, 02:30 Europe/Berlin (UTC+01:00)",
        "25 Oct 2026, 03:30 Europe/Berlin",
    ]


def test_day_is_in_utc_for_visitors():
    assert '<time datetime="2026-12-01">1 Dec 2026</time>' in template_filters.format_day("2026-12-02T00:30:00+01:00")
    assert (
        template_filters.format_day("2026-12-01")
        == template_filters.format_day(date(2026, 12, 1))
        == '<time datetime="2026-12-01">1 Dec 2026</time>'
    )


def test_number_has_thousands_separators():
    assert (
        template_filters.format_number(1_234_567),
        template_filters.format_number(-1),
        template_filters.format_number(None),
    ) == ("1,234,567", "\u22121", "–")


def test_amounts_of_several_currencies_are_listed_together():
    assert template_filters.format_amounts({"USD": 200, "EUR": 100, "JPY": 3}) == "1.00 EUR + 3 JPY + 2.00 USD"
    assert template_filters.format_amounts({}) == template_filters.format_amounts(None) == "–"


def test_age_is_shown_with_its_time():
    past = datetime.now(UTC) - timedelta(minutes=22, seconds=5)

    assert ">22 min</time>" in template_filters.format_age(past)
    assert f'title="{past:%Y-%m-%d %H:%M:%S} UTC"' in template_filters.format_age(past.isoformat())
    assert ">3 d</time>" in template_filters.format_age(past - timedelta(days=3))
    assert template_filters.format_age(None) == "–"


def test_version_of_a_live_part_ignores_ages_and_keys():
    template = '<p>1 waits</p><span data-age><time>{}</time></span><input type="hidden" name="_key" value="{}">'

    assert template_filters.content_version(template.format("1 min", "a")) == template_filters.content_version(
        template.format("2 min", "b")
    )
    assert template_filters.content_version(template.replace("1 waits", "2 wait")) != template_filters.content_version(
        template
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0, "–"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (7_300, "2 h"), (200_000, "2 d")],
)
def test_duration_is_shown_in_its_largest_unit(seconds, text):
    assert template_filters.format_duration(seconds) == text


_TABLE = """<thead><tr><th scope="col">{head}</th><th scope="col" class="num">Paid <b>out</b></th><th></th></tr></thead>
<tbody>
<tr id="one"><th scope="row">Ada</th><td class="num">1</td><td><time>now</time></td></tr>
<tr><td colspan="2">Nothing</td><td>x</td></tr>
</tbody>"""


def test_folded_table_labels_each_cell_with_its_head_and_role():
    table = template_filters.fold_table(_TABLE.format(head="Who"))

    assert table == (
        '<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Who</th>'
        '<th scope="col" class="num" role="columnheader">Paid <b>out</b></th><th role="columnheader"></th>'
        "</tr></thead>\n"
        '<tbody role="rowgroup">\n'
        '<tr id="one" role="row"><th scope="row" role="rowheader">Ada</th>'
        '<td class="num" role="cell" data-main data-count data-l="Paid out">1</td>'
        '<td role="cell"><time>now</time></td></tr>\n'
        '<tr role="row"><td colspan="2" role="cell">Nothing</td><td role="cell">x</td></tr>\n'
        "</tbody>"
    )


@pytest.mark.parametrize(
    ("amount", "is_count"), [("12", True), ("–", True), ("1,234.50 USD", False), ("<b>−4,900 JPY</b>", False)]
)
def test_main_number_without_a_currency_is_marked_as_a_count(amount, is_count):
    table = template_filters.fold_table(
        f'<thead><tr><th>Who</th><th>Paid</th></tr></thead><tr><th>Ada</th><td class="num">{amount}</td></tr>'
    )

    assert ("data-main data-count" in table) is is_count


def test_markup_in_a_head_stays_escaped_in_the_label():
    table = template_filters.fold_table(
        '<thead><tr><th>&#34;&lt;b&gt; "quoted"</th></tr></thead><tbody><tr><td>1</td></tr></tbody>'
    )

    assert 'data-l="&#34;&lt;b&gt; &#34;quoted&#34;">1<' in table


def test_screen_reader_head_is_no_label():
    table = template_filters.fold_table(
        '<thead><tr><th><span class="unseen">Act</span></th><th>Who<span class="unseen"> it is</span></th></tr></thead>'
        "<tbody><tr><td>Pause</td><td>Ada</td></tr></tbody>"
    )

    assert '<td role="cell">Pause</td><td role="cell" data-l="Who">Ada</td>' in table


def test_table_without_heads_has_no_labels():
    assert template_filters.fold_table("<tbody><tr><td>1</td></tr></tbody>") == (
        '<tbody role="rowgroup"><tr role="row"><td role="cell">1</td></tr></tbody>'
    )


def test_rows_without_a_body_get_a_body():
    table = template_filters.fold_table("<thead><tr><th>Who</th></tr></thead>\n<tr><td>Ada</td></tr>")

    assert table.endswith('<tbody role="rowgroup">\n<tr role="row"><td role="cell" data-l="Who">Ada</td></tr></tbody>')
