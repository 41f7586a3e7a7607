"""Ledger checks and reference rates at the console."""

from datetime import UTC, datetime, timedelta

from domain import jobs
from models import db
from tests.support.outside.console import list_audit_entries
from tests.support.rows.program_rows import insert_conversion
from tests.support.rows.rates import list_rates
from tests.support.settings_overrides import override_settings


def _get_today():
    return datetime.now(UTC).date()


def _list_organizations_of_jobs(job):
    with db.any_org_work():
        return [org for (org,) in db.db.run("select organization_id from job where name = %s", (job.name,))]


def _list_checks(console, brand, **query):
    return [row for row in console.get("ledger", **query) if row["organizationId"] == str(brand.id)]


def test_ledger_check_is_queued_and_its_findings_listed(console, brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    drain("sales")
    assert console.post("ledger/check", {"organizationId": str(brand.id)}).status_code == 202
    assert _list_organizations_of_jobs(jobs.LEDGER_CHECK_ONE) == [brand.id]
    drain("upkeep")
    (clean,) = _list_checks(console, brand)
    with db.any_org_work():
        db.db.run(
            "update conversion set commission_cents = commission_cents + 1 where organization_id = %s", (brand.id,)
        )
    console.post("ledger/check", {"organizationId": str(brand.id)})
    drain("upkeep")
    (red,) = _list_checks(console, brand, red="true")

    assert (clean["organization"], clean["findings"]) == ("Brand", [])
    assert red["checkedAt"] > clean["checkedAt"]
    assert red["findings"]
    assert all(finding["rule"] and finding["exception"] for finding in red["findings"])
    assert [entry[:2] for entry in list_audit_entries("ledger.check_asked", brand.id)] == [
        ("operator", "ops@example.com")
    ] * 2


def test_organization_without_findings_is_hidden_by_the_red_filter(console, brand, drain):
    console.post("ledger/check", {"organizationId": str(brand.id)})
    drain("upkeep")

    assert _list_checks(console, brand, red="true") == []


def test_whole_ledger_is_checked_by_one_job(console):
    assert console.post("ledger/check").status_code == 202
    assert _list_organizations_of_jobs(jobs.LEDGER_CHECK) == [None]
    assert console.post("ledger/check", {"organizationId": "01890000-0000-7000-8000-000000000000"}).status_code == 404


def _get_rate(console, currency):
    (rate,) = [row for row in console.get("rates") if row["currency"] == currency]
    return rate


def test_rate_shows_its_age_and_the_amount_waiting_for_it(console, brand):
    brand.program()
    insert_conversion(brand, brand.affiliate("ben"), currency="KGS", commission_cents=700)
    console.post("rates", {"content": f"currency,perUsd,date\nKGS,87,{_get_today() - timedelta(days=9)}"})
    stale = _get_rate(console, "KGS")
    console.post("rates", {"content": f"currency,perUsd,date\nKGS,88,{_get_today()}"})
    fresh = _get_rate(console, "KGS")

    assert stale == {
        "currency": "KGS",
        "newest": (_get_today() - timedelta(days=9)).isoformat(),
        "ageDays": 9,
        "isStale": True,
        "waitingCents": 700,
    }
    assert (fresh["ageDays"], fresh["isStale"], fresh["waitingCents"]) == (0, False, 0)
    assert [row["isStale"] for row in console.get("rates")] == sorted(
        (row["isStale"] for row in console.get("rates")), reverse=True
    )


def test_file_of_rates_is_stored_whole_or_not_at_all(console):
    good = "currency,perUsd,date\nKHR,4100,2024-05-01\nKHR,4101,2024-05-02\n"
    accepted = console.post("rates", {"content": good})
    again = console.post("rates", {"content": good})
    refused = console.post("rates", {"content": f"{good}KHR,many,2024-05-03\n"})

    assert (accepted.status_code, accepted.json) == (
        200,
        {"new": 2, "replaced": 0, "known": 0, "newest": "2024-05-02", "skipped": []},
    )
    assert again.json["known"] == 2
    assert (refused.status_code, refused.json["error"], refused.json["field"]) == (400, "bad_rates", "content")
    assert len(list_rates("KHR")) == 2
    assert list_audit_entries("fx_rates.loaded", "file")[-1][:3] == ("operator", "ops@example.com", None)


def test_malformed_file_of_rates_returns_400(console):
    for content in ("", " ", "\x00", 7, None, "<xml>", "a,b\n1,2", "currency,perUsd,date\n" * 3):
        assert console.post("rates", {"content": content}).status_code == 400


def test_feed_refresh_is_queued_only_with_a_feed(console, monkeypatch):
    refused = console.post("rates/refresh")
    assert (refused.status_code, refused.json["error"], _list_organizations_of_jobs(jobs.FX_REFRESH)) == (
        409,
        "no_feed",
        [],
    )

    override_settings(monkeypatch, rates={"feed_url": "https://rates.example.com/"})
    assert console.post("rates/refresh").status_code == 202
    assert _list_organizations_of_jobs(jobs.FX_REFRESH) == [None]
    assert list_audit_entries("fx_rates.refresh_asked", "feed")[-1][:2] == ("operator", "ops@example.com")
