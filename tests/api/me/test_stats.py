"""Statistics of links by day and by channel tag, across all brands."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from models import db
from models.programs import daily_totals
from tests.api.me.test_links import _create_click
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.program_rows import insert_click, time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due

DAILY, CHANNELS = "/api/me/stats/daily", "/api/me/stats/channels"


def _today():
    return datetime.now(UTC).date()


def test_daily_stats_cover_thirty_days(rita, stranger):
    for payroll in (rita.first, rita.second):
        _create_click(payroll, "rita")
        payroll.sell("rita", 4_900)
        payroll.sell("ben")
    rita.first.sell("rita", 1_000, "EUR")

    days = rita.get(DAILY)
    assert [day["day"] for day in days] == [(_today() - timedelta(days=back)).isoformat() for back in range(29, -1, -1)]
    assert days[-1] == {
        "day": _today().isoformat(),
        "clicks": 2,
        "leads": 0,
        "sales": 3,
        "commissionCentsByCurrency": {"USD": 1_960, "EUR": 200},
    }
    zeros = {"clicks": 0, "leads": 0, "sales": 0, "commissionCentsByCurrency": {}}
    assert all(day | {"day": ""} == {"day": ""} | zeros for day in days[:-1])
    assert all(day["clicks"] == 0 and day["sales"] == 0 for day in stranger.get(DAILY).json)


def test_archived_click_counts_are_included(rita):
    brand = rita.first.brand
    day = time_ago(days=95).date()
    for _ in range(7):
        insert_click(brand, rita.first.affiliates["rita"], occurred_at=time_ago(days=95))

    end_due("clicks")

    assert count_brand_rows(brand, "click") == 0
    assert [row["clicks"] for row in rita.get(f"{DAILY}?from={day}&to={day}")] == [7]


def test_days_are_the_same_before_and_after_they_are_folded(rita):
    rita.first.sell("rita")
    _create_click(rita.first, "rita")
    before = rita.get(DAILY)

    with db.any_org_work():
        daily_totals.any_org_fold(limit=10_000)

    assert rita.first.brand.rows("select count(*) from day_change") == [(0,)]
    assert rita.get(DAILY) == before
    assert (before[-1]["clicks"], before[-1]["sales"]) == (1, 1)


def test_refunded_part_of_a_commission_is_subtracted(rita):
    rita.first.sell("rita", 10_000, externalEventId="back")
    assert rita.first.brand.refund("back", 5_000).status_code == 200
    drain("sales")

    assert rita.get(DAILY)[-1]["commissionCentsByCurrency"] == {"USD": 1_000}


def test_denied_and_test_sales_are_not_counted(rita):
    conversion_id = rita.first.sell("rita")
    rita.decide(conversion_id, "deny")
    assert rita.first.brand.other_key(is_test=True).sale(affiliateSlug="rita").status_code == 200
    drain("sales")

    assert (rita.get(DAILY)[-1]["sales"], rita.get(DAILY)[-1]["commissionCentsByCurrency"]) == (0, {})


def test_channels_show_their_clicks_sales_and_commission(rita):
    _create_click(rita.first, "rita", sub_id="video")
    _create_click(rita.first, "rita", sub_id="video")
    _create_click(rita.first, "rita")
    rita.first.sell("rita", subId="letter")

    assert rita.get(CHANNELS) == [
        {"subId": "letter", "clicks": 0, "leads": 0, "sales": 1, "commissionCentsByCurrency": {"USD": 2_000}},
        {"subId": "video", "clicks": 2, "leads": 0, "sales": 0, "commissionCentsByCurrency": {}},
        {"subId": None, "clicks": 1, "leads": 0, "sales": 0, "commissionCentsByCurrency": {}},
    ]


def test_stats_filter_by_program_and_days(rita):
    rita.first.sell("rita")
    rita.second.sell("rita")
    today = _today().isoformat()

    (day,) = rita.get(f"{DAILY}?from={today}&to={today}&programId={rita.first.brand.programs[-1]}")
    assert (day["day"], day["sales"]) == (today, 1)
    (yesterday,) = rita.get(f"{DAILY}?to={_today() - timedelta(days=1)}&from={_today() - timedelta(days=1)}")
    assert yesterday["sales"] == 0
    assert rita.get(f"{CHANNELS}?programId={uuid4()}") == []


@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday",
        "to=2026-13-01",
        "from=2026-02-02&to=2026-02-01",
        "from=2026-01-01&to=2026-12-31",
        "to=0001-01-01",
        "to=9999-12-31",
        "programId=x",
        "from=%00",
    ],
)
@pytest.mark.parametrize("path", [DAILY, CHANNELS])
def test_invalid_query_returns_400(rita, path, query):
    assert rita.partner.get(f"{path}?{query}").status_code == 400


def test_unverified_email_returns_403(app, rita):
    unverified = Partner(app, rita.email, is_email_verified=False)

    assert [unverified.get(path).status_code for path in (DAILY, CHANNELS)] == [403, 403]
