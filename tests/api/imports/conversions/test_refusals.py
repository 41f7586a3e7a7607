"""Imports of conversions that are refused, row by row or as a whole.

Source: core spec, "Conversions" (conversion import).
"""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.api.import_requests import URL, build_past_sale, import_sales


def test_invalid_row_of_a_thousand_is_named_and_nothing_is_written(campaign):
    rows = [build_past_sale(externalId=f"order-{number}") for number in range(1000)]
    rows[777]["amountCents"] = 10**18

    answer = import_sales(campaign, *rows)

    assert (answer.status_code, answer.content_type) == (400, "application/json")
    assert answer.json == {
        "error": "invalid_rows",
        "message": "1 of 1000 rows cannot be imported; nothing was written.",
        "rows": [{"index": 777, "error": "amount_out_of_range"}],
        "doc_url": "http://127.0.0.1:8000/docs/errors#invalid_rows",
    }
    assert campaign.rows("select count(*) from conversion") == [(0,)]
    assert campaign.rows("select count(*) from import_job") == [(0,)]


def test_every_invalid_row_is_named_with_its_code(campaign):
    in_an_hour = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    bad = {
        "affiliate_email_or_slug_required": build_past_sale(affiliateSlug=...),
        "amount_out_of_range": build_past_sale(amountCents=-1),
        "commission_out_of_range": build_past_sale(commissionCents="7"),
        "unsupported_currency": build_past_sale(currency="XXX"),
        "occurred_at_required": build_past_sale(occurredAt=...),
        "invalid_occurred_at": build_past_sale(occurredAt="soon"),
        "occurred_at_in_future": build_past_sale(occurredAt=in_an_hour),
        "invalid_paid": build_past_sale(paid="yes"),
        "invalid_type": build_past_sale(type="Bonus"),
        "invalid_external_id": build_past_sale(externalId="nul\x00"),
        "invalid_customer_name": build_past_sale(customerName="x" * 256),
        "invalid_row": None,
    }

    answer = import_sales(campaign, build_past_sale(), *bad.values())

    assert answer.json["rows"] == [{"index": index, "error": code} for index, code in enumerate(bad, start=1)]


def test_more_than_a_thousand_rows_are_refused(campaign):
    rows = [build_past_sale(externalId=f"order-{number}", customerName="é" * 200) for number in range(1001)]

    refused, accepted = import_sales(campaign, *rows), import_sales(campaign, *rows[:1000], confirmUnpaidPayout=True)

    assert (refused.status_code, refused.json["error"]) == (400, "row_cap_exceeded")
    assert (accepted.status_code, accepted.json["imported"], accepted.json["unpaidConfirmedCents"]) == (
        200,
        1000,
        2_000_000,
    )
    assert campaign.rows("select count(*), sum(amount_cents)::int from ledger_entry") == [(1000, 2_000_000)]


@pytest.mark.parametrize("url", [URL, f"{URL}/preview"])
def test_body_over_four_megabytes_returns_413(campaign, url):
    answer = campaign.post(url, b'{"x": "' + b"x" * (4 * 1024 * 1024) + b'"}')

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize("url", [URL, f"{URL}/preview"])
def test_other_tenants_program_returns_404(campaign, rival, url):
    for program_id in (rival.program(), uuid4()):
        answer = import_sales(campaign, build_past_sale(), url=url, programId=str(program_id))

        assert (answer.status_code, answer.json["error"]) == (404, "program_not_found")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"programId": None}, "programId"),
        ({"programId": "x"}, "programId"),
        ({"conversions": []}, "conversions"),
        ({"conversions": None}, "conversions"),
        ({"conversions": {}}, "conversions"),
        ({"excludePaid": 1}, "excludePaid"),
        ({"confirmUnpaidPayout": "true"}, "confirmUnpaidPayout"),
    ],
)
def test_malformed_field_is_named_in_problem_details(campaign, fields, field):
    answer = import_sales(campaign, **({"conversions": [build_past_sale()]} | fields))

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff"])
def test_non_object_body_returns_400(campaign, raw):
    assert campaign.post(URL, raw).status_code == 400
