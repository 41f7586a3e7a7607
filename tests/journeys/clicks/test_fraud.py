"""Fraud rules of clicks: hold for review, block, or ask the operator's scorer first.

Source: core spec, "Click and lead fraud review" and "Conversion" (status Invalidated).
"""

from datetime import datetime, timedelta

import pytest

from tests.support.rows.click_rows import HOUR, build_click, list_outcomes, write

HEADLESS = "Mozilla/5.0 HeadlessChrome/140.0"


def _time_after(seconds: float) -> datetime:
    return HOUR + timedelta(seconds=seconds)


def _events(brand):
    return brand.rows("select subject, subject_id::text, action, score, reasons, status from fraud_event")


def test_suspicious_click_is_held_with_a_quarantined_conversion(click_brand, ben):
    click = build_click(click_brand, ben, is_data_centre=True)

    write(click_brand, click)

    assert list_outcomes(click_brand, [click]) == ["held"]
    assert click_brand.rows("select external_event_id, status, commission_cents, type from conversion") == [
        (f"cpc-held:{click.id}", "Invalidated", 10, "ClickReward")
    ]
    assert _events(click_brand) == [("click", click.id, "held", 50, ["data_centre"], "open")]
    assert click_brand.rows("select count(*) from ledger_entry") == [(0,)]


def test_held_click_is_listed_and_earns_once_validated(click_brand, ben):
    write(click_brand, build_click(click_brand, ben, is_data_centre=True))
    (held_row,) = click_brand.get("/api/v1/conversions?status=Invalidated").json["items"]

    answer = click_brand.person("Manager").post(f"/api/v1/conversions/{held_row['id']}/validate", {})

    assert answer.status_code == 200, answer.json
    assert click_brand.rows("select status, commission_cents from conversion") == [("Pending", 10)]
    assert click_brand.rows("select sum(amount_cents)::int from ledger_entry") == [(10,)]
    assert click_brand.rows("select sum(spent_cents)::int from reward_spend") == [(10,)]


def test_held_click_is_not_spent_until_validated(brand):
    brand.program(click_reward_cents=10, budget_cents=20)
    ben = brand.affiliate("ben")
    batch = [build_click(brand, ben, is_data_centre=n < 5) for n in range(8)]

    write(brand, *batch)
    (held_id,) = brand.rows("select id from conversion where status = 'Invalidated' limit 1")[0]
    answer = brand.person("Manager").post(f"/api/v1/conversions/{held_id}/validate", {})

    assert list_outcomes(brand, batch) == ["held"] * 5 + ["earned"] * 2 + ["over_budget"]
    assert answer.status_code == 200
    assert brand.rows("select sum(spent_cents)::int from reward_spend") == [(30,)]


def test_blocked_click_is_stored_and_creates_only_an_event(click_brand, ben):
    click = build_click(click_brand, ben, agent=HEADLESS)

    write(click_brand, click)

    assert list_outcomes(click_brand, [click]) == ["blocked"]
    assert click_brand.rows("select score, reasons from click") == [(80, ["headless"])]
    assert click_brand.rows("select count(*) from conversion") == [(0,)]
    assert _events(click_brand) == [("click", click.id, "blocked", 80, ["headless"], "open")]


@pytest.mark.parametrize(
    ("fields", "outcome", "score", "expected_actions"),
    [({"agent": HEADLESS}, "blocked", 80, ["blocked"]), ({"is_data_centre": True}, "recorded", 50, [])],
)
def test_unpaid_clicks_are_scored_and_only_blocked_clicks_listed(brand, fields, outcome, score, expected_actions):
    brand.program()
    click = build_click(brand, brand.affiliate("ben"), **fields)

    write(brand, click)

    assert list_outcomes(brand, [click]) == [outcome]
    assert brand.rows("select score from click") == [(score,)]
    assert [action for _, _, action, *_ in _events(brand)] == expected_actions
    assert brand.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("terms", [{}, {"click_reward_cents": 10}], ids=["unpaid", "paid"])
def test_blocked_clicks_are_grouped_by_link_reasons_and_hour(brand, terms):
    brand.program(**terms)
    ben, cleo = (brand.affiliate(name) for name in ("ben", "cleo"))
    flood = [build_click(brand, ben, agent=HEADLESS, at=_time_after(n)) for n in range(40)]
    others = [
        build_click(brand, ben, agent=HEADLESS, at=_time_after(3600)),
        build_click(brand, ben, agent=HEADLESS, is_data_centre=True, at=_time_after(50)),
        build_click(brand, cleo, agent=HEADLESS, at=_time_after(50)),
    ]

    for batch in (flood[:1], flood[1:25], flood[25:] + others, flood):
        write(brand, *batch)

    assert set(list_outcomes(brand, flood + others)) == {"blocked"}
    assert brand.rows(
        "select subject_id::text, affiliate_id, occurrences, status from fraud_event order by occurrences, subject_id"
    )[-1] == (flood[0].id, ben, 40, "open")
    assert sorted(occurrences for (occurrences,) in brand.rows("select occurrences from fraud_event")) == [1, 1, 1, 40]


def test_dismissed_event_is_not_reopened_within_its_hour(brand):
    brand.program()
    ben = brand.affiliate("ben")
    write(brand, build_click(brand, ben, agent=HEADLESS, at=_time_after(0)))
    (event,) = brand.get("/api/v1/fraud-events").json
    response = brand.person("Manager").call("PATCH", f"/api/v1/fraud-events/{event['id']}", {"action": "dismiss"})

    write(
        brand,
        build_click(brand, ben, agent=HEADLESS, at=_time_after(10)),
        build_click(brand, ben, agent=HEADLESS, at=_time_after(3600)),
    )

    assert response.status_code == 200
    response_body = brand.get("/api/v1/fraud-events?status=all").json
    assert [(event_row["status"], event_row["occurrences"]) for event_row in response_body] == [
        ("open", 1),
        ("dismissed", 2),
    ]


def test_strictness_of_the_brand_decides_the_outcome(click_brand, ben):
    lenient, strict = (
        build_click(click_brand, ben, is_data_centre=True),
        build_click(click_brand, ben, is_data_centre=True),
    )
    click_brand.set(fraudStrictness="lenient")
    write(click_brand, lenient)
    click_brand.set(fraudStrictness="strict")
    write(click_brand, strict)

    assert list_outcomes(click_brand, [lenient, strict]) == ["earned", "held"]


def test_banned_referrer_raises_the_score(click_brand, ben):
    click_brand.rows(
        "update organization set banned_referrers = '{spam.example}' where id = %s returning id", click_brand.id
    )
    banned, fine = (
        build_click(click_brand, ben, referrer_host="www.spam.example"),
        build_click(click_brand, ben, referrer_host="ham.example"),
    )

    write(click_brand, banned, fine)

    assert list_outcomes(click_brand, [banned, fine]) == ["held", "earned"]
    assert click_brand.rows("select reasons from click where id = %s", banned.id) == [(["banned_referrer"],)]


def test_paid_ad_visit_raises_the_score(click_brand, ben):
    click = build_click(click_brand, ben, query_names=["via", "gclid"])

    write(click_brand, click)

    assert click_brand.rows("select score, reasons from click") == [(30, ["paid_ads"])]


def test_language_foreign_to_the_country_raises_the_score(click_brand, ben):
    batch = [
        build_click(click_brand, ben, country="BR", languages=["ru-RU", "ru"]),
        build_click(click_brand, ben, country="BR", languages=["pt-BR"]),
        build_click(click_brand, ben, languages=["ru"]),
    ]

    write(click_brand, *batch)

    assert [
        click_brand.rows("select country, score, reasons from click where id = %s", click.id)[0] for click in batch
    ] == [
        ("BR", 10, ["language_mismatch"]),
        ("BR", 0, None),
        (None, 0, None),
    ]


@pytest.mark.parametrize("sizes", [(21,), (20, 1), (10, 10, 1)])
def test_twenty_first_click_of_a_network_per_hour_is_a_burst(click_brand, ben, sizes):
    remaining = [build_click(click_brand, ben, network="n", at=_time_after(60 * number)) for number in range(21)]
    write(
        click_brand, build_click(click_brand, ben, network="n", at=_time_after(-3_600))
    )  # a click of an hour ago no longer counts

    for size in sizes:
        write(click_brand, *remaining[:size])
        remaining = remaining[size:]

    burst_times = click_brand.rows("select occurred_at from click where reasons = '{burst}'")
    assert burst_times == [(_time_after(60 * 20),)]


def test_clicks_of_a_network_on_different_links_are_no_burst(click_brand, ben):
    write(click_brand, *[build_click(click_brand, ben, network="n", slug=f"ben-{number}") for number in range(25)])

    assert click_brand.rows("select count(*) from click where score > 0") == [(0,)]


@pytest.mark.parametrize("at_once", [True, False])
def test_sixth_link_of_an_affiliate_on_one_device_is_device_spread(click_brand, ben, at_once):
    batch = [
        build_click(click_brand, ben, visitor="v", slug=f"ben-{number}", at=_time_after(60 * number))
        for number in range(7)
    ]

    for part in [batch] if at_once else [[click] for click in batch]:
        write(click_brand, *part)

    assert click_brand.rows("select slug from click where reasons = '{device_spread}' order by slug") == [
        ("ben-5",),
        ("ben-6",),
    ]


@pytest.mark.parametrize(("seconds", "score"), [(0.999, 30), (1, 0)])
@pytest.mark.parametrize("at_once", [True, False])
def test_second_click_of_a_device_within_a_second_is_rapid(click_brand, ben, seconds, score, at_once):
    batch = [
        build_click(click_brand, ben, visitor="v", at=_time_after(0)),
        build_click(click_brand, ben, visitor="v", slug="ben-2", at=_time_after(seconds)),
    ]

    for part in [batch] if at_once else [[click] for click in batch]:
        write(click_brand, *part)

    assert click_brand.rows("select score from click where slug = 'ben-2'") == [(score,)]


def test_duplicate_is_scored_without_an_event(click_brand, ben):
    batch = [build_click(click_brand, ben, visitor="v", at=_time_after(n), agent=HEADLESS) for n in (0, 5)]

    write(click_brand, *batch)

    assert list_outcomes(click_brand, batch) == ["blocked", "duplicate"]
    assert len(_events(click_brand)) == 1


def test_fraud_summary_counts_real_clicks(click_brand, ben):
    headless = [build_click(click_brand, ben, agent=HEADLESS) for _ in range(3)]
    write(click_brand, *headless, build_click(click_brand, ben, is_data_centre=True), build_click(click_brand, ben))

    response_body = (
        click_brand.person("Manager").get(f"/api/v1/fraud-events/summary?programId={click_brand.programs[-1]}").json
    )

    assert (response_body["blockedClicks"], response_body["heldClicks"], response_body["estimatedNotBilledCents"]) == (
        3,
        1,
        40,
    )
    assert response_body["blockedClicksByReason"] == {"headless": 3}
