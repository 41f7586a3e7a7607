"""Bodies that nobody means well with: a clear refusal, nothing written. Source: core spec, section 7."""

import json

import pytest

_GOOD = '"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 10'


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
        f'{{{_GOOD}, "name": "Autumn"}}'.encode(),
        f'{{{_GOOD}, "extra": {{"a": 1, "a": 2}}}}'.encode(),
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_what_is_no_plain_object_is_problem_details(brand, raw):
    answer = brand.post("/api/v1/programs", raw)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "errorCount", "errors"}
    assert brand.rows("select count(*) from program") == [(0,)]


def test_a_signed_sale_that_names_an_amount_twice_is_refused(brand):
    brand.program()
    brand.affiliate("ben")
    raw = b'{"externalEventId":"o-1","affiliateSlug":"ben","amountCents":1,"amountCents":100000}'

    answer = brand.post_signed("/api/tracking/s2s", raw)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert brand.rows("select count(*) from sale") == [(0,)]


def test_five_megabytes_are_refused_by_their_size(brand):
    answer = brand.post("/api/v1/programs", json.dumps({"name": "x" * 5_000_000}).encode())

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize("value", [10**18, -(10**18), 10**30, 1e308, -1, 1.5, "7", True, [], {}])
@pytest.mark.parametrize("field", ["budgetCents", "cookieWindowDays", "minPayoutCents", "leadBountyCents"])
def test_a_number_that_cannot_be_is_refused(brand, field, value):
    answer = brand.post("/api/v1/programs", json.loads(f"{{{_GOOD}}}") | {field: value})

    assert answer.status_code == 400
    assert brand.rows("select count(*) from program") == [(0,)]


@pytest.mark.parametrize(
    "path", ["%00", "%ff", "..%2f..", "' or 1=1", "x" * 5_000, "💸", "00000000-0000-0000-0000-00000000000g"]
)
def test_an_id_that_is_none_names_nothing(brand, path):
    for route in ("programs", "affiliates", "conversions", "webhooks"):
        assert brand.get(f"/api/v1/{route}/{path}").status_code == 404
