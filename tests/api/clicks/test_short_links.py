"""Short links, through HTTP. Source: tracking spec, "Public click endpoint"; core spec, "Affiliate" (tracking link)."""

from uuid import uuid4

import pytest

import settings
from models import db
from pipelines.clicks import public_links
from tests.support.api.racing import at_once, begun
from tests.support.rows.visiting import counted, limited, lose_stream, new_slug, on_stream, visit, without_database

SHOP = "https://shop.test/a?x=1&y=%20#top"


@pytest.fixture
def slug(brand):
    """The brand has a program that leads to SHOP and an Approved affiliate with this slug."""
    brand.program(referral_destination_url=SHOP)
    slug = new_slug()
    brand.affiliate(slug)
    return slug


def _follow(app, path, **sent):
    return visit(app, f"/r/{path}", **sent)


def _change(brand, sql):
    with db.unit_of_work(brand.id):
        db.db.stage(sql)


def _shared(brand, slug):
    """Return the address that a link is shared by, without our host."""
    ((affiliate_id,),) = brand.rows(
        "select affiliate_id from tracking_link where slug = %s and deleted_at is null", slug
    )
    links = brand.get(f"/api/v1/affiliates/{affiliate_id}/links").json
    url = next(link["url"] for link in links if link["slug"] == slug)
    assert url.startswith(f"{settings.current().web.url}/r/")
    return url.removeprefix(f"{settings.current().web.url}/r/")


def test_it_leads_to_the_campaigns_site_with_the_slug_added(app, slug):
    answer = _follow(app, slug)

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"https://shop.test/a?x=1&y=%20&via={slug}#top"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Robots-Tag"] == "noindex"


def test_it_is_a_click(app, brand, slug):
    _follow(app, slug, headers={"Referer": "https://news.example.com/post"}, query_string={"gclid": "1"})

    (sent,) = on_stream()
    assert (sent.organization_id, sent.program_id, sent.slug) == (str(brand.id), str(brand.programs[0]), slug)
    assert (sent.referrer_host, sent.query_names, sent.sub_id) == ("news.example.com", ("gclid",), None)


@pytest.mark.parametrize("name", ["subId", "sub_id", "subid"])
def test_the_tag_of_the_channel_is_on_the_click_and_goes_with_the_visitor(app, slug, name):
    answer = _follow(app, slug, query_string={name: "Summer SALE&evil=1"})

    assert on_stream()[0].sub_id == "summersaleevil1"
    assert answer.headers["Location"] == f"https://shop.test/a?x=1&y=%20&via={slug}&subId=summersaleevil1#top"


@pytest.mark.parametrize("query", ["url=https://evil.test", "via=somebody", "to=//evil.test", "next=/x", "%0d%0aX: 1"])
def test_nothing_of_the_query_changes_where_it_leads(app, slug, query):
    answer = _follow(app, f"{slug}?{query}")

    assert answer.headers["Location"] == f"https://shop.test/a?x=1&y=%20&via={slug}#top"


@pytest.mark.parametrize(
    ("destination", "location"),
    [
        ("https://shop.test", "https://shop.test/?via={}"),
        ("https://shop.test/?via=old", "https://shop.test/?via={}"),
        ("https://shop.test/straße?q=ü", "https://shop.test/stra%C3%9Fe?q=%C3%BC&via={}"),
        ("http://shop.test:8080/#via=x", "http://shop.test:8080/?via={}#via=x"),
    ],
)
def test_a_site_of_any_shape_is_led_to(app, brand, slug, destination, location):
    with db.unit_of_work(brand.id):
        db.db.stage("update program set referral_destination_url = %s", (destination,))

    assert _follow(app, slug).headers["Location"] == location.format(slug)


def test_a_slug_is_followed_in_any_case(app, slug):
    assert f"via={slug}" in _follow(app, slug.upper()).headers["Location"]


@pytest.mark.parametrize(
    "path",
    [
        "nobody",
        "%00",
        "a%0d%0ab",
        "ünïcode",
        "x" * 300,
        "0192f0c1-0000-7000-8000-000000000001/nobody",
        "x/nobody",
        "%00/a",
    ],
)
def test_a_link_that_nobody_has_is_a_page_that_names_nobody(app, path):
    answer = _follow(app, path)

    assert answer.status_code == 404
    assert answer.content_type == "text/html; charset=utf-8"
    assert "leads nowhere" in answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Location" not in answer.headers
    assert on_stream() == []


@pytest.mark.parametrize(
    "change",
    [
        "program set referral_destination_url = null",
        "program set archived_at = now()",
        "tracking_link set deleted_at = now()",
        "affiliate set deleted_at = now()",
    ],
)
def test_a_link_that_leads_nowhere_any_more_is_the_same_page(app, brand, slug, change):
    _change(brand, f"update {change}")

    answer = _follow(app, slug)

    assert (answer.status_code, answer.data) == (404, _follow(app, new_slug()).data)
    assert "Brand" not in answer.text


@pytest.mark.parametrize(
    "change",
    ["affiliate set status = 'Paused'", "affiliate set status = 'Banned'", "affiliate set status = 'Pending'",
     "program set is_active = false", "program set suspended_at = now()"],
)  # fmt: skip
def test_a_visitor_arrives_though_nobody_earns(app, brand, slug, change):
    _change(brand, f"update {change}")

    assert _follow(app, slug).status_code == 302
    assert on_stream() == []


@pytest.mark.parametrize(
    "sent",
    [
        {"method": "HEAD"},
        {"headers": {"Purpose": "prefetch"}},
        {"headers": {"Sec-Purpose": "prefetch;prerender"}},
        {"headers": {"X-Moz": "prefetch"}},
        {"headers": {"User-Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}},
    ],
    ids=str,
)
def test_what_nobody_looks_at_is_redirected_and_no_click(app, slug, sent):
    assert _follow(app, slug, **sent).status_code == 302
    assert on_stream() == []


def test_a_visitor_over_the_limit_arrives_and_is_not_counted(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=1))

    answers = [_follow(app, slug) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [302, 302, 302]
    assert len(on_stream()) == 1


def test_whoever_tries_slugs_is_stopped_at_the_limit(app, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=1))

    answers = [_follow(app, new_slug()) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [404, 429, 429]
    assert answers[2].data == b""


def test_a_visitor_arrives_while_the_stream_is_away_and_the_click_is_written(app, brand, slug, monkeypatch):
    lose_stream(app, monkeypatch)

    assert _follow(app, slug).status_code == 302
    assert brand.rows("select slug from click") == [(slug,)]


def test_a_visitor_arrives_while_everything_is_away_if_the_link_was_followed_before(app, slug, monkeypatch, tmp_path):
    _follow(app, slug)
    lose_stream(app, monkeypatch)
    before = counted("finderfee_clicks_lost_total")

    with without_database(tmp_path):
        assert _follow(app, slug).status_code == 302
        assert _follow(app, new_slug()).status_code == 503

    assert counted("finderfee_clicks_lost_total") - before == 2


def test_the_campaign_in_the_address_says_which_of_several_links(app, brand, rival, slug):
    theirs = rival.program(referral_destination_url="https://rival.test/", slug=f"p-{slug}")
    rival.affiliate(slug)

    for path in (f"{theirs}/{slug}", f"{str(theirs).upper()}/{slug}", f"p-{slug}/{slug}", f"P-{slug}/{slug}"):
        assert _follow(app, path).headers["Location"] == f"https://rival.test/?via={slug}"
    assert _follow(app, f"{brand.programs[0]}/{slug}").headers["Location"].startswith("https://shop.test/")
    assert _follow(app, f"{rival.program()}/{slug}").status_code == 404


def test_the_first_link_with_a_slug_is_shared_by_it_alone_and_later_ones_with_their_campaign(app, brand, rival, slug):
    rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    second = brand.program(referral_destination_url="https://second.test/")
    brand.affiliate(slug, email="second@example.com")

    assert _shared(rival, slug) == f"{rival.programs[0]}/{slug}"
    links = brand.get(f"/api/v1/affiliates?programId={second}").json["items"][0]["links"]
    assert links[0]["url"].endswith(f"/r/{second}/{slug}")
    assert brand.rows("select needs_program from tracking_link order by created_at") == [(False,), (True,)]


def test_visitors_of_the_first_link_are_led_nowhere_else_while_it_earns_nothing(app, brand, rival, slug):
    rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    _change(brand, "update affiliate set status = 'Paused'")

    assert _follow(app, slug).headers["Location"].startswith("https://shop.test/")
    assert _follow(app, _shared(rival, slug)).headers["Location"].startswith("https://rival.test/")
    _change(brand, "update program set archived_at = now()")
    assert _follow(app, slug).status_code == 404


def test_visitors_of_a_campaigns_slug_are_led_nowhere_else_while_it_earns_nothing(app, brand, rival):
    name, slug = new_slug(), new_slug()
    for one, site in ((brand, "https://shop.test/"), (rival, "https://rival.test/")):
        one.program(referral_destination_url=site, slug=name)
        one.affiliate(slug)
    _change(brand, "update affiliate set status = 'Paused'")

    assert _follow(app, f"{name}/{slug}").headers["Location"].startswith("https://shop.test/")


def _end(brand, slug):
    _change(brand, f"update tracking_link set deleted_at = now() where slug = '{slug}'")
    public_links.forget()


def test_a_slug_stays_with_its_brand_after_its_link_has_ended(app, brand, rival, slug):
    _end(brand, slug)
    nowhere = _follow(app, new_slug()).data
    program_id = rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)

    assert (_follow(app, slug).status_code, _follow(app, slug).data) == (404, nowhere)
    assert _shared(rival, slug) == f"{program_id}/{slug}"
    assert _follow(app, f"{program_id}/{slug}").headers["Location"] == f"https://rival.test/?via={slug}"


def test_a_slug_that_was_parked_is_not_inherited(app, brand, rival, slug):
    program_id = rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    _end(brand, slug)

    assert _follow(app, slug).status_code == 404
    assert _shared(rival, slug) == f"{program_id}/{slug}"
    assert _follow(app, f"{program_id}/{slug}").status_code == 302
    _end(rival, slug)
    rival.affiliate(slug, email="again@example.com")
    assert _follow(app, slug).status_code == 404


def test_its_brand_may_use_a_slug_again_whoever_parked_it(app, brand, rival, slug):
    rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    _end(brand, slug)
    brand.program(referral_destination_url="https://second.test/")
    brand.affiliate(slug, email="second@example.com")

    assert _shared(brand, slug) == slug
    assert _follow(app, slug).headers["Location"] == f"https://second.test/?via={slug}"


def test_another_person_of_the_brand_does_not_inherit_a_slug_either(app, brand, slug):
    second = brand.program(referral_destination_url="https://second.test/")
    brand.affiliate(slug, email="second@example.com")
    _change(brand, f"update tracking_link set deleted_at = now() where program_id <> '{second}'")

    assert _follow(app, slug).status_code == 404
    assert _follow(app, f"{second}/{slug}").headers["Location"] == f"https://second.test/?via={slug}"


@pytest.fixture
def pair(brand, rival):
    """Both brands have a campaign and a link of one name each, the rival's made later: the address of both."""
    name, slug = new_slug(), new_slug()
    for one, site in ((brand, "https://shop.test/"), (rival, "https://rival.test/")):
        one.program(referral_destination_url=site, slug=name)
        one.affiliate(slug)
    return f"{name}/{slug}"


def _site(app, path):
    public_links.forget()
    return _follow(app, path).headers.get("Location", "nowhere").partition("?")[0]


def test_a_pair_of_slugs_stays_with_its_brand_after_its_link_has_ended(app, brand, rival, pair):
    nowhere = _follow(app, new_slug()).data
    _, _, slug = pair.partition("/")
    _end(brand, slug)

    assert (_follow(app, pair).status_code, _follow(app, pair).data) == (404, nowhere)
    assert _site(app, f"{rival.programs[0]}/{slug}") == "https://rival.test/"
    _end(rival, slug)
    rival.affiliate(slug, email="again@example.com")
    assert _site(app, pair) == "nowhere"
    brand.affiliate(slug, email="again@example.com")
    assert _site(app, pair) == "https://shop.test/"


def test_a_pair_of_slugs_stays_with_its_brand_when_its_campaign_is_renamed(app, brand, rival, pair):
    name, _, slug = pair.partition("/")
    other = new_slug()
    _change(brand, f"update program set slug = '{other}'")

    assert [_site(app, path) for path in (pair, f"{other}/{slug}")] == ["nowhere", "https://shop.test/"]
    _change(rival, f"update program set slug = '{other}'")
    assert _site(app, f"{other}/{slug}") == "https://shop.test/"
    _change(brand, f"update program set slug = '{name}'")
    assert [_site(app, path) for path in (pair, f"{other}/{slug}")] == ["https://shop.test/", "nowhere"]


def test_a_link_that_is_made_while_its_campaign_is_renamed_is_found_by_the_new_name(app, brand):
    brand.program(referral_destination_url="https://shop.test/")
    name, slug = new_slug(), new_slug()
    with db.unit_of_work(brand.id):
        db.db.run("update program set slug = %s returning id", (name,))
        waiting = begun(lambda: brand.affiliate(slug))
    waiting()

    assert _site(app, f"{name}/{slug}") == "https://shop.test/"


def test_two_brands_that_make_one_pair_at_once_do_not_both_have_it(app, brand, rival):
    name, slug = new_slug(), new_slug()
    for one in (brand, rival):
        one.program(slug=name)

    at_once(*(lambda one=one: one.affiliate(slug) for one in (brand, rival)))

    owned = [one.rows("select slug from link_address") for one in (brand, rival)]
    assert sorted(owned) == [[], [(slug,)]]


@pytest.mark.parametrize("change", ["insert into link_address values ('a', 'b', %s)", "delete from link_address"])
def test_the_service_cannot_change_whose_a_pair_is(brand, change):
    with pytest.raises(Exception, match="permission denied"), db.unit_of_work(brand.id):
        db.db.run(change, (brand.id,) if "%s" in change else ())


def test_an_applicants_alias_that_was_another_brands_is_shown_with_its_campaign(app, brand, rival, slug):
    _end(brand, slug)
    program_id = rival.program()

    app.test_client().post(f"/api/p/id/{program_id}/apply", json={"email": "ada@example.com", "customAlias": slug})

    ((after,),) = rival.rows("select after from audit_entry where action = 'affiliate.applied'")
    assert after["links"][0]["url"].endswith(f"/r/{program_id}/{slug}")
    assert _shared(rival, slug) == f"{program_id}/{slug}"


def test_a_new_link_with_a_slug_of_another_brand_names_its_campaign_at_once(app, brand, rival, slug):
    rival.program()
    ben = rival.affiliate(new_slug())

    made = rival.post(f"/api/v1/affiliates/{ben}/links", {"customAlias": slug}).json

    assert made["url"].endswith(f"/r/{rival.programs[0]}/{slug}")
    assert rival.get(f"/api/v1/affiliates/{ben}/links").json[1] == made


def test_two_brands_that_give_one_slug_at_once_do_not_both_get_it_alone(app, brand, rival):
    slug = new_slug()
    for one in (brand, rival):
        one.program()

    at_once(*(lambda one=one: one.affiliate(slug) for one in (brand, rival)))

    marks = [one.rows("select needs_program from tracking_link")[0][0] for one in (brand, rival)]
    assert sorted(marks) == [False, True]


def test_a_slug_waits_for_the_one_that_is_being_given(app, brand, rival):
    slug = new_slug()
    for one in (brand, rival):
        one.program()
    with db.unit_of_work(brand.id):
        _insert(brand, slug)
        waiting = begun(lambda: rival.affiliate(slug))
    waiting()

    assert rival.rows("select needs_program from tracking_link") == [(True,)]


def test_a_slug_whose_giving_came_to_nothing_is_free(app, brand, rival):
    slug = new_slug()
    for one in (brand, rival):
        one.program()
    with db.unit_of_work(brand.id):
        _insert(brand, slug)
        waiting = begun(lambda: rival.affiliate(slug))
        db.db.rollback()
    waiting()

    assert rival.rows("select needs_program from tracking_link") == [(False,)]


def _insert(brand, slug):
    affiliate_id = uuid4()
    db.db.run(
        "insert into affiliate (id, organization_id, program_id, email, email_normalized, status, source)"
        " values (%s, %s, %s, 'a@example.com', 'a@example.com', 'Approved', 'Direct') returning id",
        (affiliate_id, brand.id, brand.programs[0]),
    )
    db.db.run(
        "insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)"
        " values (%s, %s, %s, %s, %s, true) returning id",
        (uuid4(), brand.id, brand.programs[0], affiliate_id, slug),
    )


def test_the_service_cannot_read_whose_slugs_there_are(brand):
    with pytest.raises(Exception, match="permission denied"), db.unit_of_work(brand.id):
        db.db.run("select slug from bare_slug")


def test_an_applicants_alias_of_another_brand_is_audited_with_its_campaign(app, brand, rival, slug):
    program_id = rival.program()

    answer = app.test_client().post(
        f"/api/p/id/{program_id}/apply", json={"email": "ada@example.com", "customAlias": slug}
    )

    ((after,),) = rival.rows("select after from audit_entry where action = 'affiliate.applied'")
    assert answer.status_code == 200
    assert after["links"][0]["url"].endswith(f"/r/{program_id}/{slug}")
    assert _shared(rival, slug) == f"{program_id}/{slug}"
