"""What links brought: by day and by channel tag, with every brand."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.api.me.test_links import _visit
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner

DAILY, CHANNELS = "/api/me/stats/daily", "/api/me/stats/channels"


def _today():
    return datetime.now(UTC).date()


def test_thirty_days_each_with_its_numbers(rita, stranger):
    for payroll in (rita.first, rita.second):
        _visit(payroll, "rita")
        payroll.sell("rita", 4_900)
        payroll.sell("ben")
    rita.first.sell("rita", 1_000, "EUR")

    found = rita.get(DAILY)
    assert [one["day"] for one in found] == [
        (_today() - timedelta(days=back)).isoformat() for back in range(29, -1, -1)
    ]
    assert found[-1] == {
        "day": _today().isoformat(),
        "clicks": 2,
        "leads": 0,
        "sales": 3,
        "commissionCentsByCurrency": {"USD": 1_960, "EUR": 200},
    }
    nothing = {"clicks": 0, "leads": 0, "sales": 0, "commissionCentsByCurrency": {}}
    assert all(one | {"day": ""} == {"day": ""} | nothing for one in found[:-1])
    assert all(one["clicks"] == 0 and one["sales"] == 0 for one in stranger.get(DAILY).json)


def test_counts_of_old_clicks_count_as_well(rita):
    at = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=3)
    rita.first.execute(
        "insert into click_hour (organization_id, program_id, affiliate_id, slug, hour, is_duplicate, outcome, number,"
        " last_at) values (%s, %s, %s, 'rita', %s, false, 'recorded', 7, %s)",
        rita.first.brand.id,
        rita.first.brand.programs[-1],
        rita.first.affiliates["rita"],
        at,
        at,
    )

    assert {one["day"]: one["clicks"] for one in rita.get(DAILY)}[at.date().isoformat()] == 7


def test_what_earns_nothing_is_not_counted(rita):
    conversion_id = rita.first.sell("rita")
    rita.decide(conversion_id, "deny")
    assert rita.first.brand.other_key(is_test=True).sale(affiliateSlug="rita").status_code == 200
    drain("sales")

    assert (rita.get(DAILY)[-1]["sales"], rita.get(DAILY)[-1]["commissionCentsByCurrency"]) == (0, {})


def test_channels_come_with_what_each_brought(rita):
    _visit(rita.first, "rita", sub_id="video")
    _visit(rita.first, "rita", sub_id="video")
    _visit(rita.first, "rita")
    rita.first.sell("rita", subId="letter")

    assert rita.get(CHANNELS) == [
        {"subId": "letter", "clicks": 0, "leads": 0, "sales": 1, "commissionCentsByCurrency": {"USD": 2_000}},
        {"subId": "video", "clicks": 2, "leads": 0, "sales": 0, "commissionCentsByCurrency": {}},
        {"subId": None, "clicks": 1, "leads": 0, "sales": 0, "commissionCentsByCurrency": {}},
    ]


def test_a_program_and_days_narrow_it(rita):
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
def test_days_that_are_none_are_refused(rita, path, query):
    assert rita.partner.get(f"{path}?{query}").status_code == 400


def test_an_unverified_email_sees_nothing(app, rita):
    nobody = Partner(app, rita.email, is_email_verified=False)

    assert [nobody.get(path).status_code for path in (DAILY, CHANNELS)] == [403, 403]
