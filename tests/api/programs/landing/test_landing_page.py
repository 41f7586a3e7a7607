"""What a program's landing page says, and its picture, through the API. An addition to the interface."""

import base64
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.images import gif, png

_PICTURES = "/api/v1/programs/hero-images"
_SAID = {
    "headline": "Recommend our tea",
    "intro": "It is good.",
    "sections": [{"title": "Why tea?", "text": "Everybody drinks it."}],
    "heroImageId": None,
    "accentColor": "#b3541e",
    "showTerms": False,
}
_LONG = {"title": "t" * 120, "text": "\U0001f375" * 2000}


@pytest.fixture
def program(brand):
    return f"/api/v1/programs/{brand.program(slug='tea')}"


def _say(caller, program, page):
    return caller.call("PATCH", program, {"landingPageConfig": page})


def _upload(caller, content=None, content_type="image/png"):
    return caller.call("POST", _PICTURES, content or png(80, 60), Content_Type=content_type)


def _audited(brand):
    return brand.rows("select before, after from audit_entry where action = 'program.updated' order by created_at, id")


def test_what_is_said_is_shown_to_the_brand_and_to_strangers_and_audited(brand, program):
    answer = _say(brand, program, {**_SAID, "headline": "  Recommend our tea ", "accentColor": "#B3541E"})

    assert (answer.status_code, answer.json["landingPageConfig"]) == (200, _SAID)
    assert brand.get(program).json["landingPageConfig"] == _SAID
    (handle,) = brand.rows("select subdomain from organization")[0]
    shown = brand.app.test_client().get(f"/api/p/by-handle/{handle}/tea").json["landingPageConfig"]
    assert shown == {**_SAID, "heroImageUrl": None}
    ((before, after),) = _audited(brand)
    assert (before["landingPageConfig"], after["landingPageConfig"]) == (None, _SAID)
    assert _say(brand, program, _SAID).status_code == 200
    assert len(_audited(brand)) == 1  # nothing changed


def test_a_change_replaces_all_of_it_and_null_clears_it(brand, program):
    _say(brand, program, _SAID)
    replaced = _say(brand, program, {"intro": " ", "sections": None}).json["landingPageConfig"]
    kept = brand.call("PATCH", program, {"name": "Other"}).json["landingPageConfig"]
    cleared = _say(brand, program, None).json["landingPageConfig"]

    nothing = dict.fromkeys(("headline", "intro", "heroImageId", "accentColor")) | {"sections": [], "showTerms": True}
    assert replaced == kept == nothing
    assert cleared is None


def test_a_new_program_may_have_its_page_at_once(brand):
    sent = {"name": "Coffee", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}

    made = brand.post("/api/v1/programs", sent | {"landingPageConfig": _SAID})
    plain = brand.post("/api/v1/programs", sent | {"landingPageConfig": None})

    assert (made.status_code, made.json["landingPageConfig"]) == (201, _SAID)
    assert (plain.status_code, plain.json["landingPageConfig"]) == (201, None)


def test_the_longest_page_is_kept(brand, program):
    page = {"headline": "h" * 120, "intro": "\u8336" * 1000, "sections": [_LONG] * 20}

    answer = _say(brand, program, page)

    assert answer.status_code == 200
    assert len(answer.json["landingPageConfig"]["sections"]) == 20


def test_a_headline_is_one_line_and_lines_end_alike(brand, program):
    page = {"headline": "Tea\r\nfor two", "intro": "One\r\ntwo", "sections": [{"title": "t", "text": "One\rtwo"}]}

    said = _say(brand, program, page).json["landingPageConfig"]

    assert (said["headline"], said["intro"], said["sections"][0]["text"]) == ("Tea for two", "One\ntwo", "One\ntwo")


def test_what_is_malformed_is_named_where_it_stands(brand, program):
    wrong = {
        "headline": ["h" * 121, 7, "a\0b", "bell\x07"],
        "intro": ["i" * 1001, [], "\x1b[2J"],
        "sections": [
            [_LONG] * 21,
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
    for name, values in wrong.items():
        for value in values:
            answer = _say(brand, program, {name: value})

            assert answer.status_code == 400, (name, value)
            assert set(answer.json["errors"]["landingPageConfig"]) == {name}, (name, value)
    for value in ("page", 7, [], True):
        assert _say(brand, program, value).status_code == 400, value
    assert brand.get(program).json["landingPageConfig"] is None


def test_a_picture_is_looked_at_byte_by_byte_and_shown_to_anybody(brand, program):
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
    seen = brand.app.test_client().get(urlsplit(answer.json["url"]).path)
    assert (seen.status_code, seen.content_type, seen.data) == (200, "image/png", content)
    named = _say(brand, program, {"heroImageId": answer.json["id"]}).json["landingPageConfig"]
    assert named["heroImageId"] == answer.json["id"]
    for wrong in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", png(8, 8), png(5000, 60), b"x"):
        assert _upload(brand, wrong).json["error"] == "invalid_image"
    assert _upload(brand, png(64, 64), "image/gif").json["error"] == "invalid_image"
    assert _upload(brand, png(64, 64) + b"\0" * 1024 * 1024).status_code == 413


def test_a_picture_of_another_tenant_or_of_another_kind_is_none(brand, rival, program):
    theirs = _upload(rival).json["id"]
    owner = brand.person("Owner")
    owner.call("POST", "/api/organizations/me/logo", png(64, 64), Content_Type="image/png")
    (logo,) = brand.rows("select logo_file_id from organization")[0]

    for named in (theirs, str(logo), str(uuid4())):
        answer = _say(brand, program, {"heroImageId": named})

        assert (answer.status_code, answer.json["error"]) == (400, "hero_image_not_found")
        assert answer.json["field"] == "landingPageConfig"
    assert brand.get(program).json["landingPageConfig"] is None


def test_pictures_that_no_page_names_end_but_for_the_newest(brand, program):
    named = _upload(brand).json["id"]
    _say(brand, program, {"heroImageId": named})
    uploaded = [_upload(brand).json["id"] for _ in range(22)]

    kept = {str(id) for (id,) in brand.rows("select id from stored_file where kind = 'hero'")}

    assert kept == {named, *uploaded[-20:]}


def test_a_viewer_and_a_key_that_reads_upload_nothing(brand):
    for caller in (brand.person("Viewer"), brand.other_key(scope="read")):
        assert _upload(caller).status_code == 403


def test_a_picture_is_named_and_another_uploaded_at_once(brand, program):
    for _ in range(20):
        _upload(brand)
    (oldest,) = brand.rows("select id from stored_file where kind = 'hero' order by created_at, id limit 1")[0]

    answers = run_concurrently(
        lambda: _say(brand, program, {"heroImageId": str(oldest)}), *[lambda: _upload(brand) for _ in range(3)]
    )

    (said,) = [answer for answer in answers if answer.request.method == "PATCH"]
    assert [answer.status_code for answer in answers if answer is not said] == [201] * 3
    assert said.status_code in (200, 400)
    there = brand.rows("select count(*) from stored_file where id = %s", oldest)
    assert there == [(1 if said.status_code == 200 else 0,)]
