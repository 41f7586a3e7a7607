"""The picture for pages without scripts. Source: tracking spec, "Install snippet" (noscript image)."""

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


def _gif(app, program_id=None, page=None, **sent):
    query = {"programId": program_id} if program_id is not None else {}
    headers = ({"Referer": page} if page is not None else {}) | sent.pop("headers", {})
    return visit(app, GIF, query_string=query, headers=headers, **sent)


def _is_pixel(answer):
    return answer.status_code == 200 and len(answer.data) == 43 and answer.data.startswith(b"GIF89a")


def _is_verified(brand):
    return brand.get(f"/api/v1/programs/{brand.programs[-1]}/tracking-status").json["verified"]


def _seen_at(brand):
    return brand.rows("select install_seen_at from program")[0][0]


def test_it_is_one_pixel_that_no_cache_keeps_and_any_page_shows(app):
    answer = _gif(app, headers={"Origin": "https://shop.test"})

    assert _is_pixel(answer)
    assert answer.content_type == "image/gif"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"


@pytest.mark.parametrize(
    "program_id", ["", "seven", "%00", "🙂", "x" * 5000, "0192f0c1-0000-7000-8000-000000000001", "\x00"]
)
@pytest.mark.parametrize("page", [None, "", "http://[", "https://shop.test/?via=\x7f", "https://shop.test/?via=nobody"])
def test_it_is_shown_whatever_is_asked(app, program_id, page):
    assert _is_pixel(_gif(app, program_id, page))
    assert list_stream_clicks() == []


def test_it_is_shown_over_the_limit_and_then_nothing_is_noted(app, brand, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))
    page = f"https://shop.test/?via={slug}"

    answers = [_gif(app, page=page), _gif(app, page=page), _gif(app, str(brand.programs[0]), page)]

    assert [_is_pixel(answer) for answer in answers] == [True] * 3
    assert len(list_stream_clicks()) == 1
    assert _seen_at(brand) is None


def test_it_is_shown_while_the_database_is_away(app, brand, tmp_path):
    program_id = str(brand.program())

    before = read_counter("finderfee_clicks_lost_total")

    with point_at_missing_database(tmp_path):
        assert _is_pixel(_gif(app, program_id, "https://shop.test/?via=ben"))
        assert _is_pixel(_gif(app, program_id, "https://shop.test/"))

    assert read_counter("finderfee_clicks_lost_total") - before == 1


def test_it_is_shown_while_the_stream_is_away_and_the_visit_is_written(app, brand, slug, monkeypatch):
    lose_stream(app, monkeypatch)

    assert _is_pixel(_gif(app, page=f"https://shop.test/?via={slug}"))
    assert brand.rows("select slug from click") == [(slug,)]


def test_a_head_request_has_no_body_and_is_no_click(app, slug):
    answer = _gif(app, page=f"https://shop.test/?via={slug}", method="HEAD")

    assert (answer.status_code, answer.data) == (200, b"")
    assert list_stream_clicks() == []


def test_a_page_that_shows_it_verifies_the_tracking_of_its_campaign(app, brand, rival, slug):
    rival.program()
    assert not _is_verified(brand)

    _gif(app, str(brand.programs[0]))

    assert _is_verified(brand)
    assert not _is_verified(rival)


def test_the_page_of_a_campaign_is_noted_once_an_hour(app, brand, slug):
    program_id = str(brand.programs[0])
    _gif(app, program_id)
    first = _seen_at(brand)

    tag_sightings.clear_cache()  # as another process
    _gif(app, program_id)
    assert _seen_at(brand) == first

    with db.unit_of_work(brand.id):
        db.db.stage("update program set install_seen_at = now() - interval '2 hours'")
    tag_sightings.clear_cache()
    _gif(app, program_id)
    assert _seen_at(brand) > first


def test_a_visit_counts_when_the_address_of_the_page_names_a_link(app, brand, slug):
    _gif(app, str(brand.programs[0]), f"https://shop.test/a?x=1&ref={slug.upper()}&gclid=2")

    (sent,) = list_stream_clicks()
    assert (sent.slug, sent.program_id) == (slug, str(brand.programs[0]))
    assert sent.query_names == ("x", "ref", "gclid")


def test_the_brands_own_parameters_come_before_the_services(app, brand, slug):
    brand.person().call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})
    other = new_slug()
    brand.affiliate(other)
    page = f"https://shop.test/?via={slug}&pk_ref={other}"

    _gif(app, str(brand.programs[0]), page)
    _gif(app, page=page)

    assert [sent.slug for sent in list_stream_clicks()] == [other, slug]


def test_the_first_slug_of_an_address_that_can_earn_counts(app, brand, slug):
    paused = new_slug()
    brand.affiliate(paused, status="Paused")

    for query in (f"via=nobody-here&ref={slug}", f"via={paused}&ref={slug}", f"x=1&amp;via={slug}"):
        _gif(app, str(brand.programs[0]), f"https://shop.test/?{query}")
    _gif(app, str(brand.programs[0]), f"https://shop.test/mugs/via/{slug}/?ref=nobody-here")
    _gif(app, str(brand.programs[0]), f"https://shop.test/via/{slug}")

    assert [sent.slug for sent in list_stream_clicks()] == [slug] * 5


def test_at_most_five_slugs_of_an_address_are_looked_up(app, brand, slug):
    others = "&".join(f"{name}=nobody-{name}" for name in ("via", "ref", "fpr", "fp_ref", "aff"))
    _gif(app, str(brand.programs[0]), f"https://shop.test/?{others.replace('fp_ref', 'aff_id')}&atp={slug}")
    _gif(
        app,
        str(brand.programs[0]),
        f"https://shop.test/?{others.partition('&')[2]}&atp={slug}".replace("fp_ref=", "x="),
    )

    assert len(list_stream_clicks()) == 1


def test_an_address_without_a_parameter_of_ours_is_no_visit(app, brand, slug):
    for page in ("https://shop.test/", f"https://shop.test/?q={slug}", f"https://shop.test/#via={slug}"):
        _gif(app, str(brand.programs[0]), page)

    assert list_stream_clicks() == []


@pytest.mark.parametrize("headers", [{"Purpose": "prefetch"}, {"User-Agent": "curl/8.5.0"}], ids=str)
def test_what_nobody_looks_at_is_no_click(app, slug, headers):
    assert _is_pixel(_gif(app, page=f"https://shop.test/?via={slug}", headers=headers))
    assert list_stream_clicks() == []
