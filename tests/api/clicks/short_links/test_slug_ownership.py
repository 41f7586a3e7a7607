"""Ownership of slugs and of campaign-and-slug pairs: a link's address stays with its brand.

Source: tracking spec, "Public click endpoint"; core spec, "Affiliate" (tracking link).
"""

import contextlib
from uuid import uuid4

import pytest

import settings
from models import db
from pipelines.clicks import public_links
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.databases import run_as_brand
from tests.support.rows.link_visits import follow, new_slug


def _get_shared_path(brand, slug):
    """Return the URL by which a link is shared, without the host."""
    ((affiliate_id,),) = brand.rows(
        "select affiliate_id from tracking_link where slug = %s and deleted_at is null", slug
    )
    links = brand.get(f"/api/v1/affiliates/{affiliate_id}/links").json
    url = next(link["url"] for link in links if link["slug"] == slug)
    assert url.startswith(f"{settings.current().web.url}/r/")
    return url.removeprefix(f"{settings.current().web.url}/r/")


def test_campaign_in_the_url_selects_among_links(app, brand, rival, slug):
    rival_program_id = rival.program(referral_destination_url="https://rival.test/", slug=f"p-{slug}")
    rival.affiliate(slug)

    for path in (
        f"{rival_program_id}/{slug}",
        f"{str(rival_program_id).upper()}/{slug}",
        f"p-{slug}/{slug}",
        f"P-{slug}/{slug}",
    ):
        assert follow(app, path).headers["Location"] == f"https://rival.test/?via={slug}"
    assert follow(app, f"{brand.programs[0]}/{slug}").headers["Location"].startswith("https://shop.test/")
    assert follow(app, f"{rival.program()}/{slug}").status_code == 404


def test_first_link_is_shared_by_slug_and_later_ones_with_campaign(app, brand, rival, slug):
    rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    second = brand.program(referral_destination_url="https://second.test/")
    brand.affiliate(slug, email="second@example.com")

    assert _get_shared_path(rival, slug) == f"{rival.programs[0]}/{slug}"
    links = brand.get(f"/api/v1/affiliates?programId={second}").json["items"][0]["links"]
    assert links[0]["url"].endswith(f"/r/{second}/{slug}")
    assert brand.rows("select needs_program from tracking_link order by created_at") == [(False,), (True,)]


def test_first_link_is_not_redirected_elsewhere_while_it_earns_nothing(app, brand, rival, slug):
    rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    run_as_brand(brand, "update affiliate set status = 'Paused'")

    assert follow(app, slug).headers["Location"].startswith("https://shop.test/")
    assert follow(app, _get_shared_path(rival, slug)).headers["Location"].startswith("https://rival.test/")
    run_as_brand(brand, "update program set archived_at = now()")
    assert follow(app, slug).status_code == 404


def test_campaign_slug_is_not_redirected_elsewhere_while_it_earns_nothing(app, brand, rival):
    name, slug = new_slug(), new_slug()
    for tenant, site in ((brand, "https://shop.test/"), (rival, "https://rival.test/")):
        tenant.program(referral_destination_url=site, slug=name)
        tenant.affiliate(slug)
    run_as_brand(brand, "update affiliate set status = 'Paused'")

    assert follow(app, f"{name}/{slug}").headers["Location"].startswith("https://shop.test/")


def _delete_link(brand, slug):
    run_as_brand(brand, f"update tracking_link set deleted_at = now() where slug = '{slug}'")
    public_links.clear_cache()


def test_slug_stays_with_its_brand_after_its_link_ended(app, brand, rival, slug):
    _delete_link(brand, slug)
    not_found_page = follow(app, new_slug()).data
    program_id = rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)

    assert (follow(app, slug).status_code, follow(app, slug).data) == (404, not_found_page)
    assert _get_shared_path(rival, slug) == f"{program_id}/{slug}"
    assert follow(app, f"{program_id}/{slug}").headers["Location"] == f"https://rival.test/?via={slug}"


def test_parked_slug_is_not_inherited(app, brand, rival, slug):
    program_id = rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    _delete_link(brand, slug)

    assert follow(app, slug).status_code == 404
    assert _get_shared_path(rival, slug) == f"{program_id}/{slug}"
    assert follow(app, f"{program_id}/{slug}").status_code == 302
    _delete_link(rival, slug)
    rival.affiliate(slug, email="again@example.com")
    assert follow(app, slug).status_code == 404


def test_brand_may_reuse_its_slug_after_parking(app, brand, rival, slug):
    rival.program(referral_destination_url="https://rival.test/")
    rival.affiliate(slug)
    _delete_link(brand, slug)
    brand.program(referral_destination_url="https://second.test/")
    brand.affiliate(slug, email="second@example.com")

    assert _get_shared_path(brand, slug) == slug
    assert follow(app, slug).headers["Location"] == f"https://second.test/?via={slug}"


def test_another_affiliate_of_the_brand_does_not_inherit_a_slug(app, brand, slug):
    second = brand.program(referral_destination_url="https://second.test/")
    brand.affiliate(slug, email="second@example.com")
    run_as_brand(brand, f"update tracking_link set deleted_at = now() where program_id <> '{second}'")

    assert follow(app, slug).status_code == 404
    assert follow(app, f"{second}/{slug}").headers["Location"] == f"https://second.test/?via={slug}"


@pytest.fixture
def slug_pair(brand, rival):
    """Return the address shared by both brands' campaign and link names; the rival's were created later."""
    name, slug = new_slug(), new_slug()
    for tenant, site in ((brand, "https://shop.test/"), (rival, "https://rival.test/")):
        tenant.program(referral_destination_url=site, slug=name)
        tenant.affiliate(slug)
    return f"{name}/{slug}"


def _get_site(app, path):
    public_links.clear_cache()
    return follow(app, path).headers.get("Location", "nowhere").partition("?")[0]


def test_slug_pair_stays_with_its_brand_after_its_link_ended(app, brand, rival, slug_pair):
    not_found_page = follow(app, new_slug()).data
    _, _, slug = slug_pair.partition("/")
    _delete_link(brand, slug)

    assert (follow(app, slug_pair).status_code, follow(app, slug_pair).data) == (404, not_found_page)
    assert _get_site(app, f"{rival.programs[0]}/{slug}") == "https://rival.test/"
    _delete_link(rival, slug)
    rival.affiliate(slug, email="again@example.com")
    assert _get_site(app, slug_pair) == "nowhere"
    brand.affiliate(slug, email="again@example.com")
    assert _get_site(app, slug_pair) == "https://shop.test/"


def test_slug_pair_stays_with_its_brand_when_its_campaign_is_renamed(app, brand, rival, slug_pair):
    name, _, slug = slug_pair.partition("/")
    other = new_slug()
    run_as_brand(brand, f"update program set slug = '{other}'")

    assert [_get_site(app, path) for path in (slug_pair, f"{other}/{slug}")] == ["nowhere", "https://shop.test/"]
    run_as_brand(rival, f"update program set slug = '{other}'")
    assert _get_site(app, f"{other}/{slug}") == "https://shop.test/"
    run_as_brand(brand, f"update program set slug = '{name}'")
    assert [_get_site(app, path) for path in (slug_pair, f"{other}/{slug}")] == ["https://shop.test/", "nowhere"]


def test_link_created_during_a_campaign_rename_is_found_by_the_new_name(app, brand):
    brand.program(referral_destination_url="https://shop.test/")
    name, slug = new_slug(), new_slug()
    with db.unit_of_work(brand.id):
        db.db.run("update program set slug = %s returning id", (name,))
        finish_creation = start_call(lambda: brand.affiliate(slug))
    finish_creation()

    assert _get_site(app, f"{name}/{slug}") == "https://shop.test/"


def test_concurrent_creation_gives_a_slug_pair_to_one_brand(app, brand, rival):
    name, slug = new_slug(), new_slug()
    for tenant in (brand, rival):
        tenant.program(slug=name)

    run_concurrently(*(lambda tenant=tenant: tenant.affiliate(slug) for tenant in (brand, rival)))

    addresses = [tenant.rows("select slug from link_address") for tenant in (brand, rival)]
    assert sorted(addresses) == [[], [(slug,)]]


@pytest.mark.parametrize("change", ["insert into link_address values ('a', 'b', %s)", "delete from link_address"])
def test_service_role_cannot_change_pair_ownership(brand, change):
    with pytest.raises(Exception, match="permission denied"), db.unit_of_work(brand.id):
        db.db.run(change, (brand.id,) if "%s" in change else ())


def test_applicant_alias_of_another_brand_is_shown_with_campaign(app, brand, rival, slug):
    _delete_link(brand, slug)
    program_id = rival.program()

    app.test_client().post(f"/api/p/id/{program_id}/apply", json={"email": "ada@example.com", "customAlias": slug})

    ((after,),) = rival.rows("select after from audit_entry where action = 'affiliate.applied'")
    assert after["links"][0]["url"].endswith(f"/r/{program_id}/{slug}")
    assert _get_shared_path(rival, slug) == f"{program_id}/{slug}"


def test_new_link_with_another_brands_slug_includes_its_campaign(app, brand, rival, slug):
    rival.program()
    ben = rival.affiliate(new_slug())

    link = rival.post(f"/api/v1/affiliates/{ben}/links", {"customAlias": slug}).json

    assert link["url"].endswith(f"/r/{rival.programs[0]}/{slug}")
    assert rival.get(f"/api/v1/affiliates/{ben}/links").json[1] == link


def test_concurrent_creation_gives_a_bare_slug_to_one_brand(app, brand, rival):
    slug = new_slug()
    for tenant in (brand, rival):
        tenant.program()

    run_concurrently(*(lambda tenant=tenant: tenant.affiliate(slug) for tenant in (brand, rival)))

    needs_program = [tenant.rows("select needs_program from tracking_link")[0][0] for tenant in (brand, rival)]
    assert sorted(needs_program) == [False, True]


def test_slug_assignment_waits_for_a_concurrent_one(app, brand, rival):
    slug = new_slug()
    for tenant in (brand, rival):
        tenant.program()
    with db.unit_of_work(brand.id):
        _insert(brand, slug)
        finish_creation = start_call(lambda: rival.affiliate(slug))
    finish_creation()

    assert rival.rows("select needs_program from tracking_link") == [(True,)]


def test_rolled_back_slug_assignment_leaves_the_slug_free(app, brand, rival):
    slug = new_slug()
    for tenant in (brand, rival):
        tenant.program()
    with contextlib.suppress(ZeroDivisionError), db.unit_of_work(brand.id):
        _insert(brand, slug)
        finish_creation = start_call(lambda: rival.affiliate(slug))
        raise ZeroDivisionError
    finish_creation()

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


def test_service_role_cannot_read_slug_ownership(brand):
    with pytest.raises(Exception, match="permission denied"), db.unit_of_work(brand.id):
        db.db.run("select slug from bare_slug")


def test_applicant_alias_of_another_brand_is_audited_with_campaign(app, brand, rival, slug):
    program_id = rival.program()

    answer = app.test_client().post(
        f"/api/p/id/{program_id}/apply", json={"email": "ada@example.com", "customAlias": slug}
    )

    ((after,),) = rival.rows("select after from audit_entry where action = 'affiliate.applied'")
    assert answer.status_code == 200
    assert after["links"][0]["url"].endswith(f"/r/{program_id}/{slug}")
    assert _get_shared_path(rival, slug) == f"{program_id}/{slug}"
