"""Hostile bodies get a clear refusal and write nothing. Source: core spec, section 7."""

import json

import pytest

_VALID_FIELDS = '"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 10'


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"{",
        b"{} {}",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"name": NaN}',
        b'{"name": "\\ud800"}',
        b'{"name": "\xed\xa0\x80"}',
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b'{"a":' * 1_000 + b"1" + b"}" * 1_000,
        b"[" * 60_000,
        b"a=1&b=2",
        b"<program/>",
        f'{{{_VALID_FIELDS}, "name": "Autumn"}}'.encode(),
        f'{{{_VALID_FIELDS}, "extra": {{"a": 1, "a": 2}}}}'.encode(),
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_body_without_a_plain_object_returns_problem_details(brand, raw):
    answer = brand.post("/api/v1/programs", raw)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "errorCount", "errors", "doc_url"}
    assert brand.rows("select count(*) from program") == [(0,)]


def test_signed_sale_with_a_duplicate_amount_returns_400(brand):
    brand.program()
    brand.affiliate("ben")
    raw = b'{"externalEventId":"o-1","affiliateSlug":"ben","amountCents":1,"amountCents":100000}'

    answer = brand.post_signed("/api/tracking/s2s", raw)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert brand.rows("select count(*) from sale") == [(0,)]


def test_body_of_five_megabytes_returns_413(brand):
    answer = brand.post("/api/v1/programs", json.dumps({"name": "x" * 5_000_000}).encode())

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize("value", [10**18, -(10**18), 10**30, 1e308, -1, 1.5, "7", True, [], {}])
@pytest.mark.parametrize("field", ["budgetCents", "cookieWindowDays", "minPayoutCents", "leadBountyCents"])
def test_impossible_number_returns_400(brand, field, value):
    answer = brand.post("/api/v1/programs", json.loads(f"{{{_VALID_FIELDS}}}") | {field: value})

    assert answer.status_code == 400
    assert brand.rows("select count(*) from program") == [(0,)]


@pytest.mark.parametrize(
    "path", ["%00", "%ff", "..%2f..", "' or 1=1", "x" * 5_000, "💸", "00000000-0000-0000-0000-00000000000g"]
)
def test_malformed_id_returns_404(brand, path):
    for route in ("programs", "affiliates", "conversions", "webhooks"):
        assert brand.get(f"/api/v1/{route}/{path}").status_code == 404
