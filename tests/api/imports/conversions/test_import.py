"""The import of conversions, through HTTP. Source: core spec, "Conversions" (conversion import), import safeguards."""

from datetime import UTC, date, datetime

import pytest

from tests.support.api.concurrency import hold_in_thread, run_concurrently
from tests.support.api.import_requests import URL, build_past_sale, hold_import_lock, import_sales

CONVERSIONS = "/api/v1/conversions"


def _list_statuses(brand):
    return brand.rows("select external_event_id, status, payout_locked from conversion order by 1")


def test_row_becomes_a_past_conversion(campaign):
    row = build_past_sale(
        externalId="Order 7",
        customerEmail="ann@example.com",
        customerName=" Zoë 李 ",
        processorCustomerId="cus_1",
        processorSubscriptionId="sub_1",
        type="Recurring",
        paid=True,
        currency="kwd",
    )

    answer = import_sales(campaign, row)

    assert answer.status_code == 200
    assert answer.json == {
        "jobId": answer.json["jobId"],
        "status": "Completed",
        "kind": "Conversions",
        "total": 1,
        "imported": 1,
        "skipped": 0,
        "errored": 0,
        "reasons": {},
        "warningCount": 0,
        "source": "api",
        "switchId": None,
        "warnings": [],
        "unpaidConfirmed": [],
        "unpaidConfirmedCurrency": None,
        "unpaidConfirmedCents": 0,
        "confirmUnpaidPayout": False,
        "excludePaid": False,
    }
    (conversion,) = campaign.get(CONVERSIONS).json["items"]
    expected = {
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "currency": "KWD",
        "status": "Paid",
        "type": "Recurring",
        "locked": True,
        "externalEventId": "Order 7",
        "attributionMethod": "historical_import:api",
        "occurredAt": "2024-01-31T10:00:00.000Z",
        "customerName": "Zoë 李",
        "processorCustomerId": "cus_1",
        "processorSubscriptionId": "sub_1",
    }
    assert {name: conversion[name] for name in expected} == expected
    (event,) = campaign.get(f"{CONVERSIONS}/{conversion['id']}").json["events"]
    assert (event["eventType"], event["commissionCents"], event["occurredAt"]) == (
        "renewal",
        2_000,
        "2024-01-31T10:00:00.000Z",
    )


def test_rows_are_imported_as_paid_payable_or_locked_history(campaign):
    import_sales(campaign, build_past_sale(externalId="paid", paid=True), build_past_sale(externalId="history"))
    confirmed = import_sales(
        campaign,
        build_past_sale(externalId="paid too", paid=True),
        build_past_sale(externalId="due"),
        build_past_sale(externalId="nothing", commissionCents=0),
        confirmUnpaidPayout=True,
    )

    assert _list_statuses(campaign) == [
        ("due", "Approved", False),
        ("history", "Pending", True),
        ("nothing", "Approved", False),
        ("paid", "Paid", True),
        ("paid too", "Paid", True),
    ]
    assert campaign.rows("select kind, amount_cents, currency from ledger_entry") == [("earn", 2_000, "USD")]
    assert confirmed.json["unpaidConfirmed"] == [{"currency": "USD", "commissionCents": 2_000, "count": 2}]
    assert (confirmed.json["unpaidConfirmedCurrency"], confirmed.json["unpaidConfirmedCents"]) == ("USD", 2_000)


def test_confirmed_totals_in_two_currencies_name_no_single_currency(campaign):
    answer = import_sales(
        campaign,
        build_past_sale(),
        build_past_sale(currency="EUR", commissionCents=300),
        build_past_sale(currency="EUR", commissionCents=40),
        confirmUnpaidPayout=True,
    )

    assert answer.json["unpaidConfirmed"] == [
        {"currency": "EUR", "commissionCents": 340, "count": 2},
        {"currency": "USD", "commissionCents": 2_000, "count": 1},
    ]
    assert (answer.json["unpaidConfirmedCurrency"], answer.json["unpaidConfirmedCents"]) == (None, 2_340)


def test_import_emits_no_event_no_job_and_no_email(campaign):
    import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)

    for table in ("event", "job", "mail_message"):
        assert campaign.rows(f"select count(*) from {table}") == [(0,)]


def test_import_is_stored_as_a_job_and_audited(campaign):
    row = build_past_sale(externalId="1")
    job = import_sales(campaign, row, row, build_past_sale(affiliateSlug="nobody")).json

    assert campaign.rows("select id::text, kind, total, imported, skipped, reasons from import_job") == [
        (job["jobId"], "Conversions", 3, 1, 2, {"duplicate_in_batch": 1, "affiliate_not_found": 1})
    ]
    assert campaign.rows("select entity_id, after from audit_entry where action = 'import_job.completed'") == [
        (job["jobId"], {name: value for name, value in job.items() if name != "warnings"})
    ]
    assert campaign.rows("select import_job_id::text from conversion") == [(job["jobId"],)]


def test_affiliate_of_any_status_is_found_by_email_then_slug(campaign):
    ben = campaign.rows("select id from affiliate")[0][0]
    ann = campaign.affiliate("ann", status="Banned")

    import_sales(
        campaign,
        build_past_sale(externalId="1", affiliateSlug=..., affiliateEmail=" BEN@example.com"),
        build_past_sale(externalId="2", affiliateSlug="BEN"),
        build_past_sale(externalId="3", affiliateSlug="ben", affiliateEmail="ann@example.com"),
        build_past_sale(externalId="4", affiliateSlug="ben", affiliateEmail="nobody@example.com"),
    )

    assert campaign.rows("select affiliate_id from conversion order by external_event_id") == [
        (ben,),
        (ben,),
        (ann,),
        (ben,),
    ]


def test_rows_without_an_affiliate_of_the_campaign_are_skipped(campaign, rival):
    rival.program()
    rival.affiliate("zoe")
    deleted_id = campaign.affiliate("gone")
    campaign.post("/api/v1/affiliates/bulk-action", {"action": "delete", "affiliateIds": [str(deleted_id)]})
    campaign.affiliate("dan")
    campaign.program()

    answer = import_sales(campaign, *[build_past_sale(affiliateSlug=slug) for slug in ("zoe", "gone", "dan", "李")])

    assert (answer.status_code, answer.json["reasons"]) == (200, {"affiliate_not_found": 4})
    assert _list_statuses(campaign) == []


def test_repeated_import_skips_existing_conversions(campaign):
    rows = [build_past_sale(externalId="a"), build_past_sale(), build_past_sale(amountCents=0)]
    import_sales(campaign, *rows)

    again = import_sales(campaign, *rows, build_past_sale(externalId="a", paid=True), confirmUnpaidPayout=True)

    assert (again.json["imported"], again.json["reasons"]) == (0, {"already_imported": 4})
    assert {locked for *_, locked in _list_statuses(campaign)} == {True}
    assert campaign.rows("select count(*) from ledger_entry") == [(0,)]


def test_signed_sale_with_the_same_id_is_not_a_duplicate(campaign, drain):
    campaign.sale(externalEventId="a")
    drain()

    assert import_sales(campaign, build_past_sale(externalId="a")).json["imported"] == 1


def test_paid_rows_are_excluded_on_request(campaign):
    answer = import_sales(campaign, build_past_sale(paid=True), build_past_sale(amountCents=7), excludePaid=True)

    assert (answer.json["imported"], answer.json["reasons"]) == (1, {"excluded_paid": 1})
    assert answer.json["excludePaid"] is True


def test_import_by_a_test_key_is_a_test_import(campaign):
    tester = campaign.other_key(is_test=True)
    tester.programs = campaign.programs

    import_sales(tester, build_past_sale(processorCustomerId="cus_1"), confirmUnpaidPayout=True)

    assert campaign.rows("select is_test from conversion union all select is_test from ledger_entry") == [(True,)] * 2
    assert campaign.rows("select count(*) from affiliate_revenue") == [(0,)]
    assert campaign.rows("select customer_key from program_customer") == [("test-id:cus_1",)]


def test_revenue_is_counted_on_the_day_of_the_sale(campaign):
    import_sales(
        campaign,
        build_past_sale(externalId="1"),
        build_past_sale(externalId="2", occurredAt="2024-01-31T23:00:00-02:00"),
        build_past_sale(externalId="3", occurredAt="2024-02-01T22:00:00Z", paid=True),
    )

    assert campaign.rows("select day, net_cents::int from affiliate_revenue order by 1") == [
        (date(2024, 1, 31), 10_000),
        (date(2024, 2, 1), 20_000),
    ]


def test_imported_payments_start_the_recurring_window_and_are_counted(campaign, drain):
    campaign.rows("update program set recurring_months = 12 where id = %s returning id", campaign.programs[-1])
    campaign.sale(customerId="cus_new", amountCents=5_000)
    import_sales(
        campaign,
        build_past_sale(externalId="1", processorCustomerId="cus_1"),
        build_past_sale(externalId="2", processorCustomerId="cus_1", occurredAt="2023-06-01"),
        build_past_sale(externalId="3", processorCustomerId="cus_new", occurredAt="2023-06-01"),
    )

    campaign.sale(externalEventId="renewal", customerId="cus_1")
    drain()

    assert campaign.rows("select customer_key, first_paid_at, payments from program_customer order by 1") == [
        ("id:cus_1", datetime(2023, 6, 1, tzinfo=UTC), 3),
        ("id:cus_new", datetime(2023, 6, 1, tzinfo=UTC), 2),
    ]
    assert campaign.rows("select commission_cents, type from conversion where external_event_id = 'renewal'") == [
        (0, "Recurring")
    ]


def test_concurrent_import_of_one_organization_returns_409(campaign, rival):
    rival.program()
    rival.affiliate("ben")

    with hold_in_thread(hold_import_lock(campaign)):
        refused, by_rival = import_sales(campaign, build_past_sale()), import_sales(rival, build_past_sale())
        preview = import_sales(campaign, build_past_sale(), url=f"{URL}/preview")

    assert (refused.status_code, refused.json["error"]) == (409, "migration_already_in_progress")
    assert (by_rival.status_code, preview.status_code) == (200, 200)


def test_same_import_twice_at_once_stores_its_rows_once(campaign):
    rows = [build_past_sale(externalId=f"order-{number}") for number in range(100)]

    answers = run_concurrently(*[lambda: import_sales(campaign, *rows, confirmUnpaidPayout=True)] * 2)

    assert sorted(answer.status_code for answer in answers) in ([200, 200], [200, 409])
    assert campaign.rows("select count(*) from conversion") == [(100,)]
    assert campaign.rows("select count(*), sum(amount_cents)::int from ledger_entry") == [(100, 200_000)]


def test_failed_import_writes_nothing(campaign, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("api.edge.audit.record", fail)
    with pytest.raises(KeyboardInterrupt):
        import_sales(campaign, build_past_sale(processorCustomerId="cus_1"), confirmUnpaidPayout=True)

    for table in ("conversion", "import_job", "ledger_entry", "affiliate_revenue", "program_customer"):
        assert campaign.rows(f"select count(*) from {table}") == [(0,)]


def test_repeated_idempotency_key_returns_the_first_response(campaign):
    body = {"programId": str(campaign.programs[-1]), "conversions": [build_past_sale()]}

    first = campaign.post(URL, body, Idempotency_Key="once")
    again = campaign.post(URL, body, Idempotency_Key="once")

    assert (again.status_code, again.json) == (200, first.json)
    assert campaign.rows("select count(*) from import_job") == [(1,)]


@pytest.mark.parametrize("url", [URL, f"{URL}/preview"])
def test_import_needs_write_access_and_a_paid_plan_for_keys(campaign, url):
    def status(brand):
        brand.programs = campaign.programs
        return import_sales(brand, build_past_sale(), url=url).status_code

    read_key = campaign.other_key(scope="read")
    read_key.programs = campaign.programs
    refused = import_sales(read_key, build_past_sale(), url=url)
    assert (refused.status_code, "read_write" in refused.get_data(as_text=True)) == (403, True)
    assert status(campaign.person("Viewer")) == 403
    assert status(campaign.person("Manager", is_email_verified=False)) == 200
    campaign.set(plan="Free")
    assert import_sales(campaign, build_past_sale(), url=url).status_code == 402
    assert status(campaign.person("Manager")) == 200
