"""The ledger's checks and the reference rates, as an operator sees them."""

from datetime import UTC, datetime, timedelta

from domain import jobs
from models import db
from tests.support.outside.console import list_audit_entries
from tests.support.rows.program_rows import insert_conversion
from tests.support.rows.rates import list_rates
from tests.support.settings_overrides import override_settings


def _today():
    return datetime.now(UTC).date()


def _asked(job):
    with db.any_org_work():
        return [org for (org,) in db.db.run("select organization_id from job where name = %s", (job.name,))]


def _checks(console, brand, **query):
    return [one for one in console.get("ledger", **query) if one["organizationId"] == str(brand.id)]


def test_a_check_is_asked_for_and_what_it_finds_is_listed(console, brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    drain("sales")
    assert console.post("ledger/check", {"organizationId": str(brand.id)}).status_code == 202
    assert _asked(jobs.LEDGER_CHECK_ONE) == [brand.id]
    drain("upkeep")
    (clean,) = _checks(console, brand)
    with db.any_org_work():
        db.db.run(
            "update conversion set commission_cents = commission_cents + 1 where organization_id = %s", (brand.id,)
        )
    console.post("ledger/check", {"organizationId": str(brand.id)})
    drain("upkeep")
    (red,) = _checks(console, brand, red="true")

    assert (clean["organization"], clean["findings"]) == ("Brand", [])
    assert red["checkedAt"] > clean["checkedAt"]
    assert red["findings"]
    assert all(found["rule"] and found["exception"] for found in red["findings"])
    assert [entry[:2] for entry in list_audit_entries("ledger.check_asked", brand.id)] == [
        ("operator", "ops@example.com")
    ] * 2


def test_clean_money_is_left_out_where_one_asks_for_the_red(console, brand, drain):
    console.post("ledger/check", {"organizationId": str(brand.id)})
    drain("upkeep")

    assert _checks(console, brand, red="true") == []


def test_everybodys_money_is_checked_by_one_job(console):
    assert console.post("ledger/check").status_code == 202
    assert _asked(jobs.LEDGER_CHECK) == [None]
    assert console.post("ledger/check", {"organizationId": "01890000-0000-7000-8000-000000000000"}).status_code == 404


def _rate(console, currency):
    (found,) = [one for one in console.get("rates") if one["currency"] == currency]
    return found


def test_a_currency_in_use_says_how_old_its_rate_is_and_what_waits_for_one(console, brand):
    brand.program()
    insert_conversion(brand, brand.affiliate("ben"), currency="KGS", commission_cents=700)
    console.post("rates", {"content": f"currency,perUsd,date\nKGS,87,{_today() - timedelta(days=9)}"})
    stale = _rate(console, "KGS")
    console.post("rates", {"content": f"currency,perUsd,date\nKGS,88,{_today()}"})
    fresh = _rate(console, "KGS")

    assert stale == {
        "currency": "KGS",
        "newest": (_today() - timedelta(days=9)).isoformat(),
        "ageDays": 9,
        "isStale": True,
        "waitingCents": 700,
    }
    assert (fresh["ageDays"], fresh["isStale"], fresh["waitingCents"]) == (0, False, 0)
    assert [one["isStale"] for one in console.get("rates")] == sorted(
        (one["isStale"] for one in console.get("rates")), reverse=True
    )


def test_a_file_of_rates_is_stored_whole_or_not_at_all(console):
    good = "currency,perUsd,date\nKHR,4100,2024-05-01\nKHR,4101,2024-05-02\n"
    loaded = console.post("rates", {"content": good})
    again = console.post("rates", {"content": good})
    wrong = console.post("rates", {"content": f"{good}KHR,many,2024-05-03\n"})

    assert (loaded.status_code, loaded.json) == (
        200,
        {"new": 2, "replaced": 0, "known": 0, "newest": "2024-05-02", "skipped": []},
    )
    assert again.json["known"] == 2
    assert (wrong.status_code, wrong.json["error"], wrong.json["field"]) == (400, "bad_rates", "content")
    assert len(list_rates("KHR")) == 2
    assert list_audit_entries("fx_rates.loaded", "file")[-1][:3] == ("operator", "ops@example.com", None)


def test_what_is_no_file_of_rates_is_refused(console):
    for content in ("", " ", "\x00", 7, None, "<xml>", "a,b\n1,2", "currency,perUsd,date\n" * 3):
        assert console.post("rates", {"content": content}).status_code == 400


def test_the_feed_is_asked_by_a_worker_where_there_is_one(console, monkeypatch):
    refused = console.post("rates/refresh")
    assert (refused.status_code, refused.json["error"], _asked(jobs.FX_REFRESH)) == (409, "no_feed", [])

    override_settings(monkeypatch, rates={"feed_url": "https://rates.example.com/"})
    assert console.post("rates/refresh").status_code == 202
    assert _asked(jobs.FX_REFRESH) == [None]
    assert list_audit_entries("fx_rates.refresh_asked", "feed")[-1][:2] == ("operator", "ops@example.com")
