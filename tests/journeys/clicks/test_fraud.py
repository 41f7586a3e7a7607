"""What the fraud rules make of clicks: held for a look, blocked, or sent to the operator's scorer first.

Source: core spec, "Click and lead fraud review" and "Conversion" (status Invalidated).
"""

import json
from datetime import datetime, timedelta

import pytest

from adapters.fraud import scorer as fraud_scorer
from domain import jobs
from domain.fraud import Verdict
from models import db
from tests.support.rows.click_rows import HOUR, build_click, list_aggregates, list_outcomes, write

HEADLESS = "Mozilla/5.0 HeadlessChrome/140.0"


def _at(seconds: float) -> datetime:
    return HOUR + timedelta(seconds=seconds)


def _events(brand):
    return brand.rows("select subject, subject_id::text, action, score, reasons, status from fraud_event")


def test_a_suspicious_click_is_held_with_a_row_in_quarantine_and_an_open_event(paying, ben):
    click = build_click(paying, ben, is_data_centre=True)

    write(paying, click)

    assert list_outcomes(paying, [click]) == ["held"]
    assert paying.rows("select external_event_id, status, commission_cents, type from conversion") == [
        (f"cpc-held:{click.id}", "Invalidated", 10, "ClickReward")
    ]
    assert _events(paying) == [("click", click.id, "held", 50, ["data_centre"], "open")]
    assert paying.rows("select count(*) from ledger_entry") == [(0,)]


def test_the_desk_shows_what_is_held_and_a_validated_one_earns(paying, ben):
    write(paying, build_click(paying, ben, is_data_centre=True))
    (held,) = paying.get("/api/v1/conversions?status=Invalidated").json["items"]

    answer = paying.person("Manager").post(f"/api/v1/conversions/{held['id']}/validate", {})

    assert answer.status_code == 200, answer.json
    assert paying.rows("select status, commission_cents from conversion") == [("Pending", 10)]
    assert paying.rows("select sum(amount_cents)::int from ledger_entry") == [(10,)]
    assert paying.rows("select sum(spent_cents)::int from reward_spend") == [(10,)]


def test_what_is_held_takes_nothing_from_the_budget_until_it_is_validated(brand):
    brand.program(click_reward_cents=10, budget_cents=20)
    ben = brand.affiliate("ben")
    batch = [build_click(brand, ben, is_data_centre=n < 5) for n in range(8)]

    write(brand, *batch)
    (held_id,) = brand.rows("select id from conversion where status = 'Invalidated' limit 1")[0]
    answer = brand.person("Manager").post(f"/api/v1/conversions/{held_id}/validate", {})

    assert list_outcomes(brand, batch) == ["held"] * 5 + ["earned"] * 2 + ["over_budget"]
    assert answer.status_code == 200
    assert brand.rows("select sum(spent_cents)::int from reward_spend") == [(30,)]


def test_a_blocked_click_is_kept_and_leaves_an_event_alone(paying, ben):
    click = build_click(paying, ben, agent=HEADLESS)

    write(paying, click)

    assert list_outcomes(paying, [click]) == ["blocked"]
    assert paying.rows("select score, reasons from click") == [(80, ["headless"])]
    assert paying.rows("select count(*) from conversion") == [(0,)]
    assert _events(paying) == [("click", click.id, "blocked", 80, ["headless"], "open")]


@pytest.mark.parametrize(
    ("fields", "outcome", "score", "listed"),
    [({"agent": HEADLESS}, "blocked", 80, ["blocked"]), ({"is_data_centre": True}, "recorded", 50, [])],
)
def test_where_clicks_are_not_paid_a_score_is_stored_and_the_list_says_what_does_not_count(
    brand, fields, outcome, score, listed
):
    brand.program()
    click = build_click(brand, brand.affiliate("ben"), **fields)

    write(brand, click)

    assert list_outcomes(brand, [click]) == [outcome]
    assert brand.rows("select score from click") == [(score,)]
    assert [action for _, _, action, *_ in _events(brand)] == listed
    assert brand.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("terms", [{}, {"click_reward_cents": 10}], ids=["unpaid", "paid"])
def test_a_flood_of_blocked_clicks_is_one_event_per_link_reasons_and_hour_that_counts_them(brand, terms):
    brand.program(**terms)
    ben, cleo = (brand.affiliate(name) for name in ("ben", "cleo"))
    flood = [build_click(brand, ben, agent=HEADLESS, at=_at(n)) for n in range(40)]
    others = [
        build_click(brand, ben, agent=HEADLESS, at=_at(3600)),
        build_click(brand, ben, agent=HEADLESS, is_data_centre=True, at=_at(50)),
        build_click(brand, cleo, agent=HEADLESS, at=_at(50)),
    ]

    for batch in (flood[:1], flood[1:25], flood[25:] + others, flood):
        write(brand, *batch)

    assert set(list_outcomes(brand, flood + others)) == {"blocked"}
    assert brand.rows(
        "select subject_id::text, affiliate_id, occurrences, status from fraud_event order by occurrences, subject_id"
    )[-1] == (flood[0].id, ben, 40, "open")
    assert sorted(occurrences for (occurrences,) in brand.rows("select occurrences from fraud_event")) == [1, 1, 1, 40]


def test_what_the_brand_closed_does_not_come_back_within_its_hour_and_is_counted(brand):
    brand.program()
    ben = brand.affiliate("ben")
    write(brand, build_click(brand, ben, agent=HEADLESS, at=_at(0)))
    (event,) = brand.get("/api/v1/fraud-events").json
    closed = brand.person("Manager").call("PATCH", f"/api/v1/fraud-events/{event['id']}", {"action": "dismiss"})

    write(
        brand,
        build_click(brand, ben, agent=HEADLESS, at=_at(10)),
        build_click(brand, ben, agent=HEADLESS, at=_at(3600)),
    )

    assert closed.status_code == 200
    shown = brand.get("/api/v1/fraud-events?status=all").json
    assert [(one["status"], one["occurrences"]) for one in shown] == [("open", 1), ("dismissed", 2)]


def test_how_strict_the_brand_is_decides(paying, ben):
    lenient, strict = build_click(paying, ben, is_data_centre=True), build_click(paying, ben, is_data_centre=True)
    paying.set(fraudStrictness="lenient")
    write(paying, lenient)
    paying.set(fraudStrictness="strict")
    write(paying, strict)

    assert list_outcomes(paying, [lenient, strict]) == ["earned", "held"]


def test_a_referrer_that_the_brand_banned_weighs(paying, ben):
    paying.rows("update organization set banned_referrers = '{spam.example}' where id = %s returning id", paying.id)
    banned, fine = (
        build_click(paying, ben, referrer_host="www.spam.example"),
        build_click(paying, ben, referrer_host="ham.example"),
    )

    write(paying, banned, fine)

    assert list_outcomes(paying, [banned, fine]) == ["held", "earned"]
    assert paying.rows("select reasons from click where id = %s", banned.id) == [(["banned_referrer"],)]


def test_a_visit_that_was_bought_weighs(paying, ben):
    click = build_click(paying, ben, query_names=["via", "gclid"])

    write(paying, click)

    assert paying.rows("select score, reasons from click") == [(30, ["paid_ads"])]


def test_a_click_keeps_its_country_and_a_language_that_nobody_speaks_there_weighs(paying, ben):
    batch = [
        build_click(paying, ben, country="BR", languages=["ru-RU", "ru"]),
        build_click(paying, ben, country="BR", languages=["pt-BR"]),
        build_click(paying, ben, languages=["ru"]),
    ]

    write(paying, *batch)

    assert [paying.rows("select country, score, reasons from click where id = %s", sent.id)[0] for sent in batch] == [
        ("BR", 10, ["language_mismatch"]),
        ("BR", 0, None),
        (None, 0, None),
    ]


@pytest.mark.parametrize("sizes", [(21,), (20, 1), (10, 10, 1)])
def test_the_twenty_first_click_of_a_network_on_a_link_within_an_hour_is_a_burst(paying, ben, sizes):
    left = [build_click(paying, ben, network="n", at=_at(60 * number)) for number in range(21)]
    write(paying, build_click(paying, ben, network="n", at=_at(-3_600)))  # what is an hour ago counts no more

    for size in sizes:
        write(paying, *left[:size])
        left = left[size:]

    found = paying.rows("select occurred_at from click where reasons = '{burst}'")
    assert found == [(_at(60 * 20),)]


def test_a_network_on_another_link_is_no_burst(paying, ben):
    write(paying, *[build_click(paying, ben, network="n", slug=f"ben-{number}") for number in range(25)])

    assert paying.rows("select count(*) from click where score > 0") == [(0,)]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_device_on_a_sixth_link_of_an_affiliate_is_spread(paying, ben, at_once):
    batch = [build_click(paying, ben, visitor="v", slug=f"ben-{number}", at=_at(60 * number)) for number in range(7)]

    for part in [batch] if at_once else [[one] for one in batch]:
        write(paying, *part)

    assert paying.rows("select slug from click where reasons = '{device_spread}' order by slug") == [
        ("ben-5",),
        ("ben-6",),
    ]


@pytest.mark.parametrize(("seconds", "score"), [(0.999, 30), (1, 0)])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_device_that_clicks_within_a_second_is_rapid(paying, ben, seconds, score, at_once):
    batch = [
        build_click(paying, ben, visitor="v", at=_at(0)),
        build_click(paying, ben, visitor="v", slug="ben-2", at=_at(seconds)),
    ]

    for part in [batch] if at_once else [[one] for one in batch]:
        write(paying, *part)

    assert paying.rows("select score from click where slug = 'ben-2'") == [(score,)]


def test_a_duplicate_is_scored_and_makes_no_event(paying, ben):
    batch = [build_click(paying, ben, visitor="v", at=_at(n), agent=HEADLESS) for n in (0, 5)]

    write(paying, *batch)

    assert list_outcomes(paying, batch) == ["blocked", "duplicate"]
    assert len(_events(paying)) == 1


def test_the_fraud_summary_counts_real_clicks(paying, ben):
    headless = [build_click(paying, ben, agent=HEADLESS) for _ in range(3)]
    write(paying, *headless, build_click(paying, ben, is_data_centre=True), build_click(paying, ben))

    shown = paying.person("Manager").get(f"/api/v1/fraud-events/summary?programId={paying.programs[-1]}").json

    assert (shown["blockedClicks"], shown["heldClicks"], shown["estimatedNotBilledCents"]) == (3, 1, 40)
    assert shown["blockedClicksByReason"] == {"headless": 3}


@pytest.fixture
def scorer(monkeypatch):
    """A scorer of the operator's that says what `answers` holds, click by click; `away` when it is empty."""
    answers: list[Verdict] = []
    asked = []

    def judge(facts):
        asked.append(facts)
        if not answers:
            raise fraud_scorer.ScorerAway("away")
        return answers.pop(0)

    monkeypatch.setattr(fraud_scorer, "is_configured", lambda: True)
    monkeypatch.setattr(fraud_scorer, "judge", judge)
    return answers, asked


def test_with_a_scorer_a_click_earns_once_it_has_spoken(paying, ben, scorer, drain):
    answers, asked = scorer
    click = build_click(paying, ben, query_names=["gclid"])
    write(paying, click)
    before = list_outcomes(paying, [click]), list_aggregates(paying)
    answers.append(Verdict(5, ("odd_hour",)))

    drain()

    assert before == (["unscored"], [])
    assert list_outcomes(paying, [click]) == ["earned"]
    assert [row[1] for row in list_aggregates(paying)] == [10]
    assert paying.rows("select score, reasons from click") == [(35, ["paid_ads", "odd_hour"])]
    assert (asked[0].agent, asked[0].query_names) == (click.agent, frozenset({"gclid"}))


@pytest.mark.parametrize(("points", "outcome"), [(50, "held"), (80, "blocked")])
def test_what_the_scorer_says_decides_like_our_own_rules(paying, ben, scorer, drain, *, points, outcome):
    click = build_click(paying, ben)
    write(paying, click)
    scorer[0].append(Verdict(points, ("odd",)))

    drain()

    assert list_outcomes(paying, [click]) == [outcome]
    assert [row[2:5] for row in _events(paying)] == [(outcome, points, ["odd"])]


def test_while_the_scorer_is_away_clicks_are_kept_and_wait(paying, ben, scorer, drain):
    click = build_click(paying, ben)
    write(paying, click)

    drain()

    assert list_outcomes(paying, [click]) == ["unscored"]
    assert paying.rows("select name, failed_at, run_at > now() + interval '30 seconds' from job") == [
        (jobs.CLICKS_RESCORE.name, None, True)
    ]

    scorer[0].append(Verdict(0, ()))
    with db.any_org_work():
        db.db.stage("update job set run_at = now()")
    drain()
    assert list_outcomes(paying, [click]) == ["earned"]


def test_a_click_is_settled_once_however_often_its_job_comes(paying, ben, scorer, drain):
    write(paying, build_click(paying, ben))
    with db.any_org_work():
        db.db.stage(
            "insert into job (organization_id, queue, name, args, fair_key, max_attempts)"
            " select organization_id, queue, name, args, fair_key, max_attempts from job"
        )
    scorer[0].extend([Verdict(0, ())] * 2)

    drain()

    assert [row[1] for row in list_aggregates(paying)] == [10]


def test_the_budget_holds_for_what_was_scored_late_too(brand, scorer, drain):
    brand.program(click_reward_cents=10, budget_cents=25)
    ben = brand.affiliate("ben")
    batch = [build_click(brand, ben, at=_at(60 * n)) for n in range(4)]
    write(brand, *batch)
    scorer[0].extend([Verdict(0, ())] * 4)

    drain()

    assert list_outcomes(brand, batch) == ["earned"] * 2 + ["over_budget"] * 2


def test_what_waits_for_the_scorer_is_already_what_later_clicks_repeat(paying, ben, scorer):
    batch = [build_click(paying, ben, visitor="v", at=_at(n)) for n in (0, 5)]

    write(paying, batch[0])
    write(paying, batch[1])

    assert list_outcomes(paying, batch) == ["unscored", "duplicate"]
    (args,) = paying.rows("select args from job")[0]
    assert list(json.loads(args["clicks"])) == [batch[0].id]
