"""What travels compressed, to whom, and what never does."""

import gzip
import re

import pytest
from marshmallow import Schema, fields

from api.edge.compression import MIN_BYTES

LOADER = "/api/v1/r/loader.js"


@pytest.fixture
def campaigns(brand):
    """The brand with programs enough for an answer of some length."""
    for _ in range(3):
        brand.program()
    return brand


def _get(brand, path, accept="gzip, deflate, br", method="GET", **headers):
    sent = {"Authorization": f"Bearer {brand.api_key}"} | {name.replace("_", "-"): headers[name] for name in headers}
    if accept is not None:
        sent["Accept-Encoding"] = accept
    return brand.app.test_client().open(path, method=method, headers=sent)


def _varies(answer):
    return {name.strip() for line in answer.headers.getlist("Vary") for name in line.split(",")}


def test_a_long_answer_is_compressed_for_whoever_takes_that(campaigns):
    plain = _get(campaigns, "/api/v1/programs", accept=None)
    packed = _get(campaigns, "/api/v1/programs")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data) / 2
    assert gzip.decompress(packed.data) == plain.data
    assert _varies(packed) == _varies(plain) == {"Origin", "Accept-Encoding"}
    assert packed.content_type == plain.content_type == "application/json"


@pytest.mark.parametrize("accept", [None, "", "identity", "br", "gzip;q=0", "deflate, gzip;q=0.0", "*;q=0", "\udcff"])
def test_for_everybody_else_it_is_as_it_was(campaigns, accept):
    answer = _get(campaigns, "/api/v1/programs", accept)

    assert "Content-Encoding" not in answer.headers
    assert answer.json["items"]


@pytest.mark.parametrize("accept", ["gzip", "GZIP", "*", "br;q=1.0, gzip;q=0.5"])
def test_every_way_to_say_gzip_is_understood(campaigns, accept):
    assert _get(campaigns, "/api/v1/programs", accept).headers["Content-Encoding"] == "gzip"


def test_a_short_answer_is_not_worth_it(brand):
    answer = _get(brand, "/api/v1/programs")

    assert len(answer.data) < MIN_BYTES
    assert "Content-Encoding" not in answer.headers
    assert _varies(answer) == {"Origin"}


def test_a_refusal_that_is_long_is_compressed_too(brand):
    body = {"programId": str(brand.program()), "conversions": [{}] * 40}

    answer = brand.post("/api/v1/conversions/import", body, Accept_Encoding="gzip")

    assert (answer.status_code, answer.content_type) == (400, "application/json")
    assert answer.headers["Content-Encoding"] == "gzip"


def test_a_head_has_the_headers_of_a_get(campaigns):
    get = _get(campaigns, "/api/v1/programs")
    head = _get(campaigns, "/api/v1/programs", method="HEAD")

    assert head.data == b""
    for name in ("Content-Encoding", "Content-Length", "Vary"):
        assert head.headers[name] == get.headers[name]


def test_csv_goes_out_as_it_is_made(brand):
    brand.set(plan="Pro")
    for path in ("/api/v1/conversions/export.csv", "/api/v1/audit-log?format=csv"):
        answer = _get(brand.person("Owner"), path)
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer.headers


def test_the_description_is_compressed_whole(app, brand):
    answer = _get(brand, "/api/openapi.json")

    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.data) == _get(brand, "/api/openapi.json", accept=None).data


def test_an_answer_that_is_repeated_is_compressed_for_whoever_asks_again(campaigns):
    body = {"name": "P", "slug": "p-x", "defaultCommissionType": "Percentage", "defaultCommissionValue": 1}
    body["description"] = "x" * 2000
    first = campaigns.post("/api/v1/programs", body, Idempotency_Key="k", Accept_Encoding="gzip")
    again = campaigns.post("/api/v1/programs", body, Idempotency_Key="k")

    assert first.status_code == 201
    assert first.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in again.headers
    assert gzip.decompress(first.data) == again.data


def test_an_answer_with_a_secret_is_never_compressed(brand):
    event_types = ["*"]
    made = brand.post(
        "/api/v1/webhooks",
        {"url": "https://localhost/hook", "events": event_types, "description": "x" * 200},
        Accept_Encoding="gzip",
    )
    owner = brand.person("Owner")
    key = owner.post("/api/v1/api-keys", {"name": "x" * 60}, Accept_Encoding="gzip")

    assert (made.status_code, key.status_code) == (201, 201), (made.json, key.json)
    assert "Content-Encoding" not in made.headers
    assert "Content-Encoding" not in key.headers


def test_not_even_a_long_one(campaigns, monkeypatch):
    monkeypatch.setattr("api.edge.compression.MIN_BYTES", 1)
    endpoint = campaigns.endpoint("https://localhost/hook")

    rotated = campaigns.post(f"/api/v1/webhooks/{endpoint['id']}/rotate-secret", Accept_Encoding="gzip")
    shown = _get(campaigns, f"/api/v1/webhooks/{endpoint['id']}")

    assert rotated.json["secret"]
    assert "Content-Encoding" not in rotated.headers
    assert shown.headers["Content-Encoding"] == "gzip"


def test_an_invites_link_is_not_compressed_beside_a_note_that_somebody_chose(brand):
    note = f"<p>{'x' * 1500}</p>"
    sent = {"programId": str(brand.program()), "email": "rita@example.com", "personalNoteHtml": note}

    made = brand.person("Owner").post("/api/affiliate-invites", sent, Accept_Encoding="gzip")

    assert made.status_code == 201
    assert len(made.data) > MIN_BYTES
    assert made.json["acceptUrl"]
    assert "Content-Encoding" not in made.headers


_SECRET = re.compile(r"(^|_)(secret|api_key|password|token|signature|accept_url|signed_url|download_url)$")


def _names(schema, seen=()):
    for name, field in schema.fields.items():
        if not isinstance(field, fields.Boolean):  # it may tell of a secret, but cannot hold one
            yield name
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested) and isinstance(inner.schema, Schema) and inner.schema not in seen:
            yield from _names(inner.schema, (*seen, inner.schema))


def test_every_operation_whose_answer_has_a_secret_says_so(app):
    silent = [
        rule.rule
        for rule in app.url_map.iter_rules()
        for operation in [app.view_functions[rule.endpoint].operation]
        if operation.gives.schema is not None
        and any(_SECRET.search(name) for name in _names(operation.gives.schema))
        and not operation.shows_secret
    ]

    assert silent == []


def test_the_script_is_compressed_and_each_form_has_a_tag_of_its_own(app):
    client = app.test_client()
    plain = client.get(LOADER)
    packed = client.get(LOADER, headers={"Accept-Encoding": "gzip"})

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 2
    assert "Accept-Encoding" in _varies(plain) & _varies(packed)
    assert packed.headers["ETag"] != plain.headers["ETag"]
    for answer, accept in ((plain, "identity"), (packed, "gzip")):
        again = client.get(LOADER, headers={"Accept-Encoding": accept, "If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        assert "Accept-Encoding" in _varies(again)


def test_the_script_is_packed_once_for_all_who_ask(app, monkeypatch):
    from api.edge import compression

    client = app.test_client()
    client.get(LOADER, headers={"Accept-Encoding": "gzip"})
    monkeypatch.setattr(compression, "compress_bytes", None)

    assert client.get(LOADER, headers={"Accept-Encoding": "gzip"}).status_code == 200
