"""A program's landing page and its picture, through the API. An addition to the interface."""

import base64
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.images import gif, png

_PICTURES = "/api/v1/programs/hero-images"
_PAGE = {
    "headline": "Recommend our tea",
    "intro": "It is good.",
    "sections": [{"title": "Why tea?", "text": "Everybody drinks it."}],
    "heroImageId": None,
    "accentColor": "#b3541e",
    "showTerms": False,
}
_LONGEST_SECTION = {"title": "t" * 120, "text": "\U0001f375" * 2000}


@pytest.fixture
def program(brand):
    return f"/api/v1/programs/{brand.program(slug='tea')}"


def _set_page(caller, program, page):
    return caller.call("PATCH", program, {"landingPageConfig": page})


def _upload(caller, content=None, content_type="image/png"):
    return caller.call("POST", _PICTURES, content or png(80, 60), Content_Type=content_type)


def _list_changes(brand):
    return brand.rows("select before, after from audit_entry where action = 'program.updated' order by created_at, id")


def test_page_is_returned_to_brand_and_public_and_audited(brand, program):
    answer = _set_page(brand, program, {**_PAGE, "headline": "  Recommend our tea ", "accentColor": "#B3541E"})

    assert (answer.status_code, answer.json["landingPageConfig"]) == (200, _PAGE)
    assert brand.get(program).json["landingPageConfig"] == _PAGE
    (handle,) = brand.rows("select subdomain from organization")[0]
    public = brand.app.test_client().get(f"/api/p/by-handle/{handle}/tea").json["landingPageConfig"]
    assert public == {**_PAGE, "heroImageUrl": None}
    ((before, after),) = _list_changes(brand)
    assert (before["landingPageConfig"], after["landingPageConfig"]) == (None, _PAGE)
    assert _set_page(brand, program, _PAGE).status_code == 200
    assert len(_list_changes(brand)) == 1  # nothing changed


def test_page_is_replaced_as_a_whole_and_cleared_by_null(brand, program):
    _set_page(brand, program, _PAGE)
    replaced = _set_page(brand, program, {"intro": " ", "sections": None}).json["landingPageConfig"]
    unchanged = brand.call("PATCH", program, {"name": "Other"}).json["landingPageConfig"]
    cleared = _set_page(brand, program, None).json["landingPageConfig"]

    defaults = dict.fromkeys(("headline", "intro", "heroImageId", "accentColor")) | {"sections": [], "showTerms": True}
    assert replaced == unchanged == defaults
    assert cleared is None


def test_page_can_be_set_at_creation(brand):
    body = {"name": "Coffee", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}

    with_page = brand.post("/api/v1/programs", body | {"landingPageConfig": _PAGE})
    without_page = brand.post("/api/v1/programs", body | {"landingPageConfig": None})

    assert (with_page.status_code, with_page.json["landingPageConfig"]) == (201, _PAGE)
    assert (without_page.status_code, without_page.json["landingPageConfig"]) == (201, None)


def test_longest_page_is_stored(brand, program):
    page = {"headline": "h" * 120, "intro": "\u8336" * 1000, "sections": [_LONGEST_SECTION] * 20}

    answer = _set_page(brand, program, page)

    assert answer.status_code == 200
    assert len(answer.json["landingPageConfig"]["sections"]) == 20


def test_line_ends_are_normalized_and_a_headline_is_one_line(brand, program):
    page = {"headline": "Tea\r\nfor two", "intro": "One\r\ntwo", "sections": [{"title": "t", "text": "One\rtwo"}]}

    stored = _set_page(brand, program, page).json["landingPageConfig"]

    assert (stored["headline"], stored["intro"], stored["sections"][0]["text"]) == (
        "Tea for two",
        "One\ntwo",
        "One\ntwo",
    )


def test_malformed_field_is_named(brand, program):
    invalid = {
        "headline": ["h" * 121, 7, "a\0b", "bell\x07"],
        "intro": ["i" * 1001, [], "\x1b[2J"],
        "sections": [
            [_LONGEST_SECTION] * 21,
            {},
            ["text"],
            [{"title": "t"}],
            [{"title": " ", "text": "t"}],
            [{"title": "t" * 121, "text": "t"}],
            [{"title": "t", "text": "t" * 2001}],
            [{"title": "t", "text": "a\0"}],
            [{"title": "t", "text": "\x01"}],
            [{"title": "t", "text": "t", "html": "<b>"}],
            [None],
        ],
        "heroImageId": ["1", 1, "../../etc/passwd"],
        "accentColor": ["red", "#12345", "#12345g", "#1234567", "#123456\n", "url(x)"],
        "showTerms": ["yes", 1],
        "headLine": ["Typo"],
    }
    for name, values in invalid.items():
        for value in values:
            answer = _set_page(brand, program, {name: value})

            assert answer.status_code == 400, (name, value)
            assert set(answer.json["errors"]["landingPageConfig"]) == {name}, (name, value)
    for value in ("page", 7, [], True):
        assert _set_page(brand, program, value).status_code == 400, value
    assert brand.get(program).json["landingPageConfig"] is None


def test_picture_is_validated_and_served_publicly(brand, program):
    content = png(1200, 900)
    answer = _upload(brand, content)
    as_json = brand.post(_PICTURES, {"dataBase64": base64.b64encode(gif(64, 64)).decode()})

    assert (answer.status_code, as_json.status_code) == (201, 201)
    assert {**answer.json, "id": "", "url": ""} == {
        "id": "",
        "url": "",
        "contentType": "image/png",
        "width": 1200,
        "height": 900,
        "sizeBytes": len(content),
    }
    served = brand.app.test_client().get(urlsplit(answer.json["url"]).path)
    assert (served.status_code, served.content_type, served.data) == (200, "image/png", content)
    page = _set_page(brand, program, {"heroImageId": answer.json["id"]}).json["landingPageConfig"]
    assert page["heroImageId"] == answer.json["id"]
    for invalid in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", png(8, 8), png(5000, 60), b"x"):
        assert _upload(brand, invalid).json["error"] == "invalid_image"
    assert _upload(brand, png(64, 64), "image/gif").json["error"] == "invalid_image"
    assert _upload(brand, png(64, 64) + b"\0" * 1024 * 1024).status_code == 413


def test_foreign_or_non_hero_image_id_is_refused(brand, rival, program):
    other_tenants = _upload(rival).json["id"]
    owner = brand.person("Owner")
    owner.call("POST", "/api/organizations/me/logo", png(64, 64), Content_Type="image/png")
    (logo,) = brand.rows("select logo_file_id from organization")[0]

    for image_id in (other_tenants, str(logo), str(uuid4())):
        answer = _set_page(brand, program, {"heroImageId": image_id})

        assert (answer.status_code, answer.json["error"]) == (400, "hero_image_not_found")
        assert answer.json["field"] == "landingPageConfig"
    assert brand.get(program).json["landingPageConfig"] is None


def test_only_the_newest_unused_pictures_are_kept(brand, program):
    used = _upload(brand).json["id"]
    _set_page(brand, program, {"heroImageId": used})
    uploaded = [_upload(brand).json["id"] for _ in range(22)]

    stored = {str(id) for (id,) in brand.rows("select id from stored_file where kind = 'hero'")}

    assert stored == {used, *uploaded[-20:]}


def test_viewer_and_read_key_cannot_upload(brand):
    for caller in (brand.person("Viewer"), brand.other_key(scope="read")):
        assert _upload(caller).status_code == 403


def test_picture_set_during_uploads_is_stored_or_refused(brand, program):
    for _ in range(20):
        _upload(brand)
    (oldest,) = brand.rows("select id from stored_file where kind = 'hero' order by created_at, id limit 1")[0]

    answers = run_concurrently(
        lambda: _set_page(brand, program, {"heroImageId": str(oldest)}), *[lambda: _upload(brand) for _ in range(3)]
    )

    (change,) = [answer for answer in answers if answer.request.method == "PATCH"]
    assert [answer.status_code for answer in answers if answer is not change] == [201] * 3
    assert change.status_code in (200, 400)
    remaining = brand.rows("select count(*) from stored_file where id = %s", oldest)
    assert remaining == [(1 if change.status_code == 200 else 0,)]
