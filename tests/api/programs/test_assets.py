"""Assets (texts and images for affiliates), managed by the brand. An addition to the interface."""

import base64
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from domain.programs.assets import MAX_ASSETS, MAX_BYTES, MAX_IMAGE_BYTES
from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import assert_foreign_cursors_refused
from tests.support.rows.images import gif, jpeg, png, webp

URL = "/api/v1/assets"
_HOSTILE_NAME = 'Böse" <b>& X-Evil: 1 ../../etc'


def _build_text(name="Words", **more):
    return {"name": name, "text": "Try it for a month."} | more


def _build_image(content, name="Picture", **more):
    return {"name": name, "dataBase64": base64.b64encode(content).decode()} | more


def _create(owner, body):
    answer = owner.post(URL, body)
    assert answer.status_code == 201, answer.text
    return answer.json


def _list_names(caller, query=""):
    return [asset["name"] for asset in caller.get(f"{URL}{query}").json["items"]]


@pytest.fixture
def owner(brand):
    """Return the Owner's dashboard session of the brand."""
    return brand.person("Owner")


def test_text_is_stored_verbatim(brand, owner):
    program_id = str(brand.program(name="Spring"))
    text = "<script>alert(1)</script>\r\n\té \N{RIGHT-TO-LEFT OVERRIDE} 🎁 {{ 7*7 }}"
    asset = _create(owner, _build_text("  Mail   one ", text=text, programId=program_id))

    assert asset == brand.get(URL).json["items"][0]
    assert asset | {"id": None, "createdAt": None} == {
        "id": None,
        "programId": program_id,
        "programName": "Spring",
        "kind": "Text",
        "name": "Mail one",
        "text": text,
        "contentType": None,
        "width": None,
        "height": None,
        "sizeBytes": len(text.encode()),
        "fileUrl": None,
        "createdAt": None,
    }
    assert brand.get(f"{URL}/{asset['id']}/file").status_code == 404


def test_image_type_is_detected_and_its_file_served_safely(owner):
    for content, content_type, extension in (
        (png(64, 32), "image/png", "png"),
        (jpeg(64, 32), "image/jpeg", "jpg"),
        (gif(64, 32), "image/gif", "gif"),
        (webp(64, 32), "image/webp", "webp"),
        (png(64, 32) + b"<script>alert(1)</script>", "image/png", "png"),  # bytes that are also readable as HTML
    ):
        asset = _create(owner, _build_image(content, _HOSTILE_NAME))
        assert (asset["kind"], asset["contentType"], asset["width"], asset["height"]) == ("Image", content_type, 64, 32)
        assert (asset["text"], asset["sizeBytes"], asset["programId"]) == (None, len(content), None)

        answer = owner.get(urlsplit(asset["fileUrl"]).path)
        assert (answer.status_code, answer.data, answer.content_type) == (200, content, content_type)
        headers = answer.headers
        assert headers["Content-Disposition"] == f'attachment; filename="bose-b-x-evil-1-etc.{extension}"'
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "no-store" in headers["Cache-Control"]
        assert "X-Evil" not in headers


def test_name_without_ascii_letters_still_has_a_file_name(owner):
    asset = _create(owner, _build_image(png(64, 64), "広告"))

    answer = owner.get(urlsplit(asset["fileUrl"]).path)
    assert (asset["name"], answer.headers["Content-Disposition"]) == ("広告", 'attachment; filename="image.png"')


def test_invalid_image_is_refused(owner):
    for content, content_type in (
        (b"", None),
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" onload="alert(1)"/>', "image/svg+xml"),
        (b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"/>', "image/png"),
        (b"<!doctype html><script>alert(1)</script>", "image/png"),
        (b"%PDF-1.7", None),
        (png(64, 64), "image/gif"),
        (png(64, 64), "text/html"),
        (png(64, 64)[:20], None),
        (png(15, 64), None),
        (png(2**31, 64), None),
    ):
        answer = owner.post(URL, _build_image(content, contentType=content_type))
        assert (answer.status_code, answer.json["error"]) == (400, "invalid_image"), content[:20]
    assert owner.rows("select count(*) from stored_file") == [(0,)]


def test_malformed_body_returns_problem_details(owner):
    for body in (
        {},
        [],
        _build_text(name=None),
        _build_text(name=" \n"),
        _build_text(name="x" * 121),
        _build_text(name="a\0b"),
        _build_text(name=5),
        _build_text(text=None),
        _build_text(text=" "),
        _build_text(text="a\0b"),
        _build_text(text="x" * 5001),
        _build_text(text=["x"]),
        _build_text(programId="x"),
        _build_text(programId=5),
        _build_text(dataBase64="YQ=="),
        {"name": "x", "dataBase64": "%%%"},
        {"name": "x", "dataBase64": "é"},
        {"name": "x", "dataBase64": 5},
        {"name": "x", "dataBase64": "YQ==", "contentType": 5},
    ):
        answer = owner.post(URL, body)
        assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), body
    assert owner.get(URL).json["items"] == []


def test_image_over_two_mebibytes_is_refused(owner):
    full = png(64, 64).ljust(MAX_IMAGE_BYTES, b"\0")

    assert _create(owner, _build_image(full))["sizeBytes"] == MAX_IMAGE_BYTES
    for content in (full + b"\0", full * 2):
        answer = owner.post(URL, _build_image(content))
        assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


def test_list_is_paged_newest_first_and_filtered_by_program(brand, owner, rival):
    spring, autumn = (str(brand.program(name=name)) for name in ("Spring", "Autumn"))
    _create(owner, _build_text("of spring", programId=spring))
    _create(owner, _build_text("of all"))
    _create(owner, _build_text("of autumn", programId=autumn))
    for name in ("theirs", "theirs too"):
        _create(rival.person("Owner"), _build_text(name))

    assert _list_names(brand) == ["of autumn", "of all", "of spring"]
    assert _list_names(brand, f"?programId={spring}") == ["of all", "of spring"]
    assert _list_names(brand, f"?programId={uuid4()}") == ["of all"]
    first = brand.get(f"{URL}?take=2").json
    assert _list_names(brand, f"?take=2&cursor={first['nextCursor']}") == ["of spring"]
    assert_foreign_cursors_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/programs"))
    for query in ("?programId=x", "?take=0", "?take=x", "?cursor=x"):
        assert brand.get(f"{URL}{query}").status_code == 400, query


def test_deleted_asset_is_gone_with_its_file(brand, owner):
    asset = _create(owner, _build_image(png(64, 64)))
    url = f"{URL}/{asset['id']}"
    answers = run_concurrently(lambda: owner.call("DELETE", url), lambda: owner.call("DELETE", url))

    assert sorted(answer.status_code for answer in answers) == [204, 404]
    assert brand.get(URL).json["items"] == []
    assert brand.get(f"{url}/file").status_code == 404
    assert brand.rows("select count(*) from stored_file") == [(0,)]


def test_creation_and_deletion_are_audited(brand, owner):
    asset = _create(owner, _build_text())
    owner.call("DELETE", f"{URL}/{asset['id']}")

    entries = brand.rows(
        "select action, before, after from audit_entry where entity_type = 'asset' order by created_at"
    )
    assert entries == [("asset.created", None, asset), ("asset.deleted", asset, None)]


def test_other_tenants_asset_returns_404(brand, owner, rival):
    other_tenants = _create(rival.person("Owner"), _build_image(png(64, 64)))
    other_tenants_program = str(rival.program())

    for asset_id in (other_tenants["id"], str(uuid4()), "x", "%00"):
        assert owner.call("DELETE", f"{URL}/{asset_id}").status_code == 404, asset_id
        assert owner.get(f"{URL}/{asset_id}/file").status_code == 404, asset_id
    for program_id in (other_tenants_program, str(uuid4())):
        answer = owner.post(URL, _build_text(programId=program_id))
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert len(rival.get(URL).json["items"]) == 1


def test_manager_writes_and_every_member_and_key_reads(brand):
    asset = _create(brand.person("Manager"), _build_image(png(64, 64)))
    for caller in (brand, brand.person("Viewer")):
        assert caller.get(URL).status_code == 200
        assert caller.get(f"{URL}/{asset['id']}/file").status_code == 200
        assert caller.post(URL, _build_text()).status_code == 403
        assert caller.call("DELETE", f"{URL}/{asset['id']}").status_code == 403


def test_repeated_idempotency_key_creates_one_asset(owner):
    first, repeated = (owner.post(URL, _build_text(), Idempotency_Key="k1") for _ in range(2))

    assert first.json == repeated.json
    assert len(owner.get(URL).json["items"]) == 1


def _insert_assets(owner, number, size_bytes):
    owner.rows(
        "insert into asset (id, organization_id, kind, name, text, size_bytes, created_at)"
        " select gen_random_uuid(), %s, 'Text', 'x', 'x', %s, now() from generate_series(1, %s) returning 1",
        owner.id,
        size_bytes,
        number,
    )


def test_concurrent_uploads_do_not_exceed_the_maximum(owner):
    _insert_assets(owner, MAX_ASSETS - 1, 1)
    answers = run_concurrently(
        lambda: owner.post(URL, _build_text()), lambda: owner.post(URL, _build_image(png(64, 64)))
    )

    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert owner.post(URL, _build_text()).json["error"] == "asset_limit_reached"
    assert owner.rows("select count(*) from asset") == [(MAX_ASSETS,)]


def test_total_size_of_assets_is_limited(owner):
    _insert_assets(owner, 1, MAX_BYTES - 100)

    assert owner.post(URL, _build_text(text="x" * 101)).json["error"] == "asset_limit_reached"
    assert owner.post(URL, _build_text(text="x" * 100)).status_code == 201
