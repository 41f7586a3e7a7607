"""The logo and the favicon. Source: core spec, "Other resources" (profile: logoUrl, faviconUrl)."""

import base64
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from models import db, ids, stored_files
from models.stored_files import StoredFile
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.images import gif, jpeg, png, webp

PROFILE = "/api/organizations/me"
URL = f"{PROFILE}/logo"
MAX_BYTES = 1024 * 1024


def _upload(caller, content, content_type="image/png", *, kind=None, **headers):
    return caller.call("POST", f"{URL}?kind={kind}" if kind else URL, content, Content_Type=content_type, **headers)


def _fetch(app, url):
    return app.test_client().get(urlsplit(url).path)


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (png(64, 32), "image/png"),
        (jpeg(64, 32), "image/jpeg"),
        (gif(64, 32), "image/gif"),
        (webp(64, 32), "image/webp"),
    ],
)
def test_image_is_stored_and_public(app, owner, content, content_type):
    answer = _upload(owner, content, content_type)
    image_response = _fetch(app, answer.json["logoUrl"])

    assert answer.status_code == 200
    assert answer.json["logoUrl"].startswith("http://127.0.0.1:8000/api/brand-files/")
    assert answer.json == owner.get(PROFILE).json
    assert (image_response.status_code, image_response.content_type, image_response.data) == (
        200,
        content_type,
        content,
    )


def test_image_is_served_with_safe_headers(app, owner):
    image_response = _fetch(app, _upload(owner, png(64, 64)).json["logoUrl"])

    assert image_response.headers["X-Content-Type-Options"] == "nosniff"
    assert image_response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert "immutable" in image_response.headers["Cache-Control"]
    cached = app.test_client().get(
        image_response.request.path, headers={"If-None-Match": image_response.headers["ETag"]}
    )
    assert (cached.status_code, cached.data) == (304, b"")


def test_image_may_be_sent_as_json(app, owner):
    body = {"dataBase64": base64.b64encode(png(20, 20)).decode(), "contentType": "image/png"}

    answer = owner.post(URL, body)
    without_type = owner.post(URL, {"dataBase64": body["dataBase64"]})

    assert (answer.status_code, without_type.status_code) == (200, 200)
    assert _fetch(app, without_type.json["logoUrl"]).data == png(20, 20)


def test_logo_and_favicon_are_independent(owner):
    _upload(owner, png(64, 64))
    answer = _upload(owner, png(16, 16), kind="favicon")

    assert answer.json["faviconUrl"] is not None
    assert answer.json["logoUrl"] not in (None, answer.json["faviconUrl"])
    owner.call("DELETE", f"{URL}?kind=favicon")
    assert owner.get(PROFILE).json["faviconUrl"] is None
    assert owner.get(PROFILE).json["logoUrl"] == answer.json["logoUrl"]


def test_new_logo_replaces_the_old_one(app, owner):
    old = _upload(owner, png(64, 64)).json["logoUrl"]
    new = _upload(owner, png(65, 65)).json["logoUrl"]

    assert _fetch(app, old).status_code == 404
    assert _fetch(app, new).data == png(65, 65)
    assert owner.rows("select count(*) from stored_file") == [(1,)]


def test_deleted_logo_returns_404(app, owner):
    url = _upload(owner, png(64, 64)).json["logoUrl"]

    deleted = owner.call("DELETE", URL)
    repeated = owner.call("DELETE", URL)

    assert (deleted.status_code, deleted.data) == (204, b"")
    assert (repeated.status_code, repeated.json["error"]) == (404, "not_found")
    assert owner.get(PROFILE).json["logoUrl"] is None
    assert _fetch(app, url).status_code == 404


def test_upload_and_deletion_are_audited(owner):
    url = _upload(owner, png(64, 64)).json["logoUrl"]
    owner.call("DELETE", URL)

    rows = owner.rows("select before, after from audit_entry where action = 'org.logo_changed' order by created_at")
    assert rows == [({"logoUrl": None}, {"logoUrl": url}), ({"logoUrl": url}, {"logoUrl": None})]


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"", "image/png"),
        (b"no image at all", "image/png"),
        (png(64, 64), "image/jpeg"),
        (jpeg(64, 64), "image/png"),
        (png(64, 64), "application/octet-stream"),
        (png(64, 64), "text/html"),
        (png(64, 64), "multipart/form-data; boundary=x"),
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>', "image/svg+xml"),
        (b"<html><script>alert(1)</script>", "image/png"),
        (png(64, 64)[:20], "image/png"),
        (png(15, 64), "image/png"),
        (png(64, 15), "image/png"),
        (png(4097, 64), "image/png"),
        (png(2**31, 2**31), "image/png"),
        (gif(0, 0), "image/gif"),
    ],
)
def test_invalid_image_is_refused(owner, content, content_type):
    answer = _upload(owner, content, content_type)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_image")
    assert owner.get(PROFILE).json["logoUrl"] is None
    assert owner.rows("select count(*) from stored_file") == [(0,)]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"dataBase64": None},
        {"dataBase64": 5},
        {"dataBase64": "%%%"},
        {"dataBase64": "é"},
        {"dataBase64": "YQ"},
        {"dataBase64": "YQ==", "contentType": 5},
    ],
)
def test_malformed_json_body_returns_problem_details(owner, body):
    answer = owner.post(URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_json_with_mismatched_content_type_is_refused(owner):
    body = {"dataBase64": base64.b64encode(png(20, 20)).decode(), "contentType": "image/gif"}

    assert owner.post(URL, body).json["error"] == "invalid_image"


def test_unknown_kind_returns_problem_details(owner):
    assert _upload(owner, png(64, 64), kind="banner").content_type == "application/problem+json"
    assert owner.call("DELETE", f"{URL}?kind=tax_form").content_type == "application/problem+json"


def test_image_over_one_mebibyte_returns_413(owner):
    largest = png(64, 64).ljust(MAX_BYTES, b"\0")
    oversized = largest + b"\0"

    assert _upload(owner, largest).status_code == 200
    assert owner.post(URL, {"dataBase64": base64.b64encode(largest).decode()}).status_code == 200
    for answer in (
        _upload(owner, oversized),
        owner.post(URL, {"dataBase64": base64.b64encode(oversized).decode()}),
        _upload(owner, png(64, 64).ljust(3 * MAX_BYTES, b"\0")),
    ):
        assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_role_below_owner_cannot_change_the_logo(brand, role):
    person = brand.person(role)

    assert _upload(person, png(64, 64)).status_code == 403
    assert person.call("DELETE", URL).status_code == 403


def test_key_cannot_change_the_logo(brand):
    for answer in (_upload(brand, png(64, 64)), brand.call("DELETE", URL)):
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


def test_private_or_unknown_file_returns_404(app, owner):
    private_id = ids.new_id()
    with db.unit_of_work(owner.id):
        stored_files.insert(
            StoredFile(private_id, owner.id, "tax_form", "application/pdf", b"sealed", datetime.now(UTC))
        )

    for name in (private_id, uuid4(), "x", "%00"):
        answer = app.test_client().get(f"/api/brand-files/{name}")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_concurrent_uploads_leave_one_file(owner):
    answers = run_concurrently(lambda: _upload(owner, png(64, 64)), lambda: _upload(owner, png(65, 65)))

    assert [answer.status_code for answer in answers] == [200, 200]
    assert owner.rows("select count(*) from stored_file") == [(1,)]
    assert owner.get(PROFILE).json["logoUrl"] in [answer.json["logoUrl"] for answer in answers]


def test_repeated_upload_is_stored_once(owner):
    first = _upload(owner, png(64, 64), Idempotency_Key="k1")
    repeated = _upload(owner, png(64, 64), Idempotency_Key="k1")

    assert repeated.json == first.json
    assert owner.rows("select count(*) from stored_file") == [(1,)]
