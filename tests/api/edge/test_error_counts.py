"""An answer has at most twenty errors and their total count, and repeats little of the request."""

import json

import pytest

from api.edge import body, errors
from domain.refusals import Refused
from tests.support.running.costs import least_cost, yardstick_s

_MAX_BYTES = 64 * 1024


def _count_leaves(part):
    if isinstance(part, dict):
        return sum(_count_leaves(inner) for inner in part.values())
    return len(part)


@pytest.mark.parametrize("count", [1, 19, 20, 21, 1_000])
def test_answer_has_at_most_twenty_errors_and_their_count(brand, count):
    rows = [{"email": 7}] * count

    answer = brand.post("/api/v1/affiliates/import/preview", {"programId": str(brand.program()), "affiliates": rows})

    assert answer.status_code == 400
    assert answer.json["errorCount"] == count
    assert _count_leaves(answer.json["errors"]) == min(count, 20)
    assert next(iter(answer.json["errors"]["affiliates"])) == "0"


def test_errors_of_several_fields_are_counted_together(brand):
    answer = brand.post("/api/v1/programs", {"name": 7, "defaultCommissionType": "x", "defaultCommissionValue": "y"})

    assert answer.json["errorCount"] == _count_leaves(answer.json["errors"]) >= 3


@pytest.mark.parametrize("count", [10, 100, 20_000])
def test_unknown_keys_of_a_strict_object_are_counted(brand, count):
    page = {f"name{number}": 1 for number in range(count)}

    answer = brand.call("PATCH", f"/api/v1/programs/{brand.program()}", {"landingPageConfig": page})

    assert (answer.status_code, answer.json["errorCount"]) == (400, count)
    assert len(answer.data) < _MAX_BYTES


def test_callers_names_and_texts_are_shortened_in_the_answer(brand):
    brand.program()
    long = "n" * 30_000

    answers = [
        brand.person("Owner").post("/api/v1/connections", {"gateway": "stripe", "credentials": {long: long}}),
        brand.post("/api/v1/webhooks", {"url": "https://a.example.com/", "events": ["e" * 100] * 100}),
        brand.post("/api/v1/programs", {long: 1, "name": long}),
        brand.post("/api/v1/embed/tokens", {"affiliateId": str(brand.affiliate("ben")), "allowedOrigins": [long]}),
    ]

    assert [answer.status_code for answer in answers] == [400] * 4
    assert max(len(answer.data) for answer in answers) < 16_000


def test_long_message_of_a_refusal_is_shortened():
    envelope = errors.envelope(Refused(400, "x", "m" * 5_000, field="f" * 5_000))

    assert len(envelope["message"]) <= 1_000
    assert len(envelope["field"]) <= 100


@pytest.mark.parametrize("kind", ["affiliates", "conversions"])
@pytest.mark.parametrize("count", [1_001, 20_000, 200_000])
def test_import_with_too_many_rows_returns_row_cap_exceeded(brand, kind, count):
    raw = f'{{"programId": "{brand.program()}", "{kind}": [{",".join(["{}"] * count)}]}}'.encode()

    for path in (f"/api/v1/{kind}/import/preview", f"/api/v1/{kind}/import"):
        answer = brand.post(path, raw)

        assert (answer.status_code, answer.json["error"]) == (400, "row_cap_exceeded")


@pytest.mark.parametrize("row", ['{"extra": 1, "email": "a@b.example"}', '{"email":"a@b.example",%s}'])
def test_import_at_the_row_cap_is_not_row_cap_exceeded(brand, row):
    extra = ",".join(f'"k{number}": ""' for number in range(100))
    rows = ",".join([row.replace("%s", extra)] * 1_000)
    raw = f'{{"programId": "{brand.program()}", "affiliates": [{rows}]}}'.encode()

    answer = brand.post("/api/v1/affiliates/import/preview", raw)

    assert answer.status_code == (400 if "%s" in row else 200)
    if "%s" in row:
        assert "more than 50,000 values" in answer.json["errors"]["body"][0]


_PARTS = {
    "names": b'{"a":{%s}}' % b",".join(b'"k%d":0' % number for number in range(150_000)),
    "names with escapes": b'{"a":{%s}}' % b",".join(b'"\\u00e9%d":0' % number for number in range(110_000)),
    "numbers": b'{"a":[%s]}' % b",".join([b"1.5"] * 300_000),
    "texts": b'{"a":[%s]}' % b",".join([b'"["'] * 300_000),
    "texts of other letters": b'{"a":[%s]}' % b",".join(['"é"'.encode()] * 200_000),
    "texts without commas": b'""[' * 400_000,
    "objects": b'{"a":[%s]}' % b",".join([b'{"":0}'] * 150_000),
    "digits": b'{"a":%s}' % (b"1" * 1_000_000),
    "exponent": b'{"a":1e%s}' % (b"1" * 1_000_000),
    "depth": b'{"a":' * 200_000,
}


@pytest.mark.parametrize("name", _PARTS)
def test_refusing_json_costs_at_most_as_much_as_reading_plain_json(name):
    raw = _PARTS[name]
    max_s = yardstick_s(len(raw))

    cost, value = least_cost(lambda: body.parse(raw), enough_s=max_s)

    assert value is None
    assert cost <= max_s


def test_punctuation_inside_texts_does_not_count_as_values():
    text = ', "k": [{' * 100_000

    assert body.parse(json.dumps({"file": text}).encode()) == {"file": text}
    assert body.parse(json.dumps({"a": [0] * 50_000}).encode()) is not None
    assert body.parse(json.dumps({"a": [0] * 50_003}).encode()) is None


def test_embed_token_with_too_many_origins_returns_too_many_origins(brand):
    brand.program()
    affiliate_id = str(brand.affiliate("ben"))
    origins = ["https://a.example.com"] * 11

    answer = brand.post("/api/v1/embed/tokens", {"affiliateId": affiliate_id, "allowedOrigins": origins})

    assert (answer.status_code, answer.json["error"]) == (400, "too_many_origins")


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps({"jsonrpc": "2.0", "id": "x" * 100_000, "method": "ping"}).encode(),
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b'{"a":' * 300 + b"1" + b"}" * 301,
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 100_000}).encode(),
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "create_program", "arguments": {"n" * 100_000: 1}},
            }
        ).encode(),
    ],
    ids=["long id", "nested deeply", "long method", "long argument name"],
)
def test_mcp_answer_repeats_little_of_the_message(brand, raw):
    answer = brand.post("/mcp", raw)

    assert answer.status_code in (200, 400, 404)
    assert len(answer.data) < 4_000


def test_form_with_too_many_fields_returns_413(app):
    answer = app.test_client().post(
        "/sign-in",
        data=b"a=&" * 2_001,
        content_type="application/x-www-form-urlencoded",
        headers={"Sec-Fetch-Site": "same-origin"},
    )

    assert answer.status_code == 413
