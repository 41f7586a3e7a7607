"""The tracking pixel for pages without scripts. Source: tracking spec, "Install snippet" (noscript image)."""

import pytest

from api.clicks import tag_sightings
from models import db
from tests.support.rows.link_visits import (
    create_limiter,
    list_stream_clicks,
    lose_stream,
    new_slug,
    point_at_missing_database,
    read_counter,
    visit,
)

GIF = "/api/v1/r/c.gif"


def _get_pixel(app, program_id=None, page=None, **request_args):
    query = {"programId": program_id} if program_id is not None else {}
    headers = ({"Referer": page} if page is not None else {}) | request_args.pop("headers", {})
    return visit(app, GIF, query_string=query, headers=headers, **request_args)


def _is_pixel(answer):
    return answer.status_code == 200 and len(answer.data) == 43 and answer.data.startswith(b"GIF89a")


def _is_verified(brand):
    return brand.get(f"/api/v1/programs/{brand.programs[-1]}/tracking-status").json["verified"]


def _get_seen_at(brand):
    return brand.rows("select install_seen_at from program")[0][0]


def test_pixel_is_not_cached_and_allowed_on_any_origin(app):
    answer = _get_pixel(app, headers={"Origin": "https://shop.test"})

    assert _is_pixel(answer)
    assert answer.content_type == "image/gif"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"


@pytest.mark.parametrize(
    "program_id", ["", "seven", "%00", "🙂", "x" * 5000, "0192f0c1-0000-7000-8000-000000000001", "\x00"]
)
@pytest.mark.parametrize("page", [None, "", "http://[", "https://shop.test/?via=\x7f", "https://shop.test/?via=nobody"])
def test_pixel_is_returned_for_any_query(app, program_id, page):
    assert _is_pixel(_get_pixel(app, program_id, page))
    assert list_stream_clicks() == []


def test_pixel_over_the_limit_is_returned_without_side_effects(app, brand, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))
    page = f"https://shop.test/?via={slug}"

    answers = [_get_pixel(app, page=page), _get_pixel(app, page=page), _get_pixel(app, str(brand.programs[0]), page)]

    assert [_is_pixel(answer) for answer in answers] == [True] * 3
    assert len(list_stream_clicks()) == 1
    assert _get_seen_at(brand) is None


def test_pixel_is_returned_while_the_database_is_down(app, brand, tmp_path):
    program_id = str(brand.program())

    before = read_counter("finderfee_clicks_lost_total")

    with point_at_missing_database(tmp_path):
        assert _is_pixel(_get_pixel(app, program_id, "https://shop.test/?via=ben"))
        assert _is_pixel(_get_pixel(app, program_id, "https://shop.test/"))

    assert read_counter("finderfee_clicks_lost_total") - before == 1


def test_pixel_is_returned_and_click_written_while_the_stream_is_down(app, brand, slug, monkeypatch):
    lose_stream(app, monkeypatch)

    assert _is_pixel(_get_pixel(app, page=f"https://shop.test/?via={slug}"))
    assert brand.rows("select slug from click") == [(slug,)]


def test_head_request_has_no_body_and_is_no_click(app, slug):
    answer = _get_pixel(app, page=f"https://shop.test/?via={slug}", method="HEAD")

    assert (answer.status_code, answer.data) == (200, b"")
    assert list_stream_clicks() == []


def test_pixel_verifies_the_tracking_of_its_campaign(app, brand, rival, slug):
    rival.program()
    assert not _is_verified(brand)

    _get_pixel(app, str(brand.programs[0]))

    assert _is_verified(brand)
    assert not _is_verified(rival)


def test_campaign_page_is_recorded_once_an_hour(app, brand, slug):
    program_id = str(brand.programs[0])
    _get_pixel(app, program_id)
    first = _get_seen_at(brand)

    tag_sightings.clear_cache()  # as in another process
    _get_pixel(app, program_id)
    assert _get_seen_at(brand) == first

    with db.unit_of_work(brand.id):
        db.db.stage("update program set install_seen_at = now() - interval '2 hours'")
    tag_sightings.clear_cache()
    _get_pixel(app, program_id)
    assert _get_seen_at(brand) > first


def test_page_url_with_a_slug_creates_a_click(app, brand, slug):
    _get_pixel(app, str(brand.programs[0]), f"https://shop.test/a?x=1&ref={slug.upper()}&gclid=2")

    (message,) = list_stream_clicks()
    assert (message.slug, message.program_id) == (slug, str(brand.programs[0]))
    assert message.query_names == ("x", "ref", "gclid")


def test_brand_parameters_precede_the_defaults(app, brand, slug):
    brand.person().call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})
    other = new_slug()
    brand.affiliate(other)
    page = f"https://shop.test/?via={slug}&pk_ref={other}"

    _get_pixel(app, str(brand.programs[0]), page)
    _get_pixel(app, page=page)

    assert [message.slug for message in list_stream_clicks()] == [other, slug]


def test_first_earning_slug_of_the_page_url_counts(app, brand, slug):
    paused = new_slug()
    brand.affiliate(paused, status="Paused")

    for query in (f"via=nobody-here&ref={slug}", f"via={paused}&ref={slug}", f"x=1&amp;via={slug}"):
        _get_pixel(app, str(brand.programs[0]), f"https://shop.test/?{query}")
    _get_pixel(app, str(brand.programs[0]), f"https://shop.test/mugs/via/{slug}/?ref=nobody-here")
    _get_pixel(app, str(brand.programs[0]), f"https://shop.test/via/{slug}")

    assert [message.slug for message in list_stream_clicks()] == [slug] * 5


def test_at_most_five_slugs_of_a_page_url_are_looked_up(app, brand, slug):
    others = "&".join(f"{name}=nobody-{name}" for name in ("via", "ref", "fpr", "fp_ref", "aff"))
    _get_pixel(app, str(brand.programs[0]), f"https://shop.test/?{others.replace('fp_ref', 'aff_id')}&atp={slug}")
    _get_pixel(
        app,
        str(brand.programs[0]),
        f"https://shop.test/?{others.partition('&')[2]}&atp={slug}".replace("fp_ref=", "x="),
    )

    assert len(list_stream_clicks()) == 1


def test_page_url_without_known_parameter_is_no_click(app, brand, slug):
    for page in ("https://shop.test/", f"https://shop.test/?q={slug}", f"https://shop.test/#via={slug}"):
        _get_pixel(app, str(brand.programs[0]), page)

    assert list_stream_clicks() == []


@pytest.mark.parametrize("headers", [{"Purpose": "prefetch"}, {"User-Agent": "curl/8.5.0"}], ids=str)
def test_prefetch_and_bot_requests_are_no_click(app, slug, headers):
    assert _is_pixel(_get_pixel(app, page=f"https://shop.test/?via={slug}", headers=headers))
    assert list_stream_clicks() == []
