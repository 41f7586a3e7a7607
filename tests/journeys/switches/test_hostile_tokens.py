"""Tokens of others, malformed tokens, and tokens of deleted links lead nowhere they should not.

Source: the switch-over rules, "Links".
"""

import pytest

from tests.support.job_queues import drain
from tests.support.rows.link_visits import SHOP, follow, list_stream_clicks, new_slug, post_click
from tests.support.switches.brought_rows import add_old_token


def _prepare(brand, token):
    brand.program(referral_destination_url=SHOP)
    slug = new_slug()
    brand.affiliate(slug)
    add_old_token(brand, slug, token)
    return slug


def test_each_tenants_token_leads_to_its_own_link(app, brand, rival):
    theirs, ours = _prepare(rival, "jo.hn"), _prepare(brand, "jo.hn")

    for owner, slug in ((rival, theirs), (brand, ours)):
        assert post_click(app, "jo.hn", programId=str(owner.programs[-1])).json["slug"] == slug
        assert f"via={slug}" in follow(app, f"{owner.programs[-1]}/jo.hn").headers["Location"]
        assert owner.sale(affiliateSlug="jo.hn").status_code == 200
        drain()
        statement = "select l.slug from conversion c join tracking_link l on l.affiliate_id = c.affiliate_id"
        assert owner.rows(statement) == [(slug,)]


def test_another_tenants_token_is_unknown(app, brand, rival):
    _prepare(rival, "jo.hn")
    brand.program(referral_destination_url=SHOP)
    brand.affiliate(new_slug())

    assert post_click(app, "jo.hn", programId=str(brand.programs[-1])).json == {"ok": True}
    assert follow(app, f"{brand.programs[-1]}/jo.hn").status_code == 404
    assert brand.sale(affiliateSlug="jo.hn").json["error"] == "affiliate_not_found"
    lead = brand.post_signed("/api/tracking/lead", {"affiliateSlug": "jo.hn", "email": "ann@example.com"})
    assert lead.json["error"] == "affiliate_not_found"


def test_token_equal_to_the_slug_of_another_affiliate_leads_to_the_slug(app, brand):
    slug = _prepare(brand, "jo.hn")
    other = brand.affiliate("jo.hn")

    assert post_click(app, "jo.hn", programId=str(brand.programs[-1])).json["slug"] == "jo.hn"
    assert brand.sale(affiliateSlug="jo.hn").status_code == 200
    drain()
    assert brand.rows("select affiliate_id from conversion") == [(other,)]
    assert slug != "jo.hn"


def test_whole_token_comes_before_a_slug_at_its_start(app, brand):
    slug = _prepare(brand, "eva@example.com")
    brand.affiliate("eva")

    assert post_click(app, "eva@example.com", programId=str(brand.programs[-1])).json["slug"] == slug
    assert post_click(app, "eva@example.org", programId=str(brand.programs[-1])).json["slug"] == "eva"


@pytest.mark.parametrize(
    "text", ["jo.hn\x00", "\x00", "x" * 191, "%00", "%FF%FE", "", " ", "\u200b", "'; drop table old_token; --"]
)
def test_malformed_token_leads_nowhere(app, brand, text):
    _prepare(brand, "jo.hn")
    program = str(brand.programs[-1])

    answer = post_click(app, text, programId=program)

    assert answer.status_code in (200, 400)
    assert "clickId" not in answer.json or text.startswith("jo.hn")
    sale = brand.sale(affiliateSlug=text)
    assert sale.status_code == 400
    assert brand.rows("select from conversion") == []


@pytest.mark.parametrize("deleted", ["tracking_link", "affiliate"])
def test_token_of_a_deleted_link_or_affiliate_leads_nowhere(app, brand, deleted):
    _prepare(brand, "jo.hn")
    brand.rows(f"update {deleted} set deleted_at = now() returning 1")

    assert post_click(app, "jo.hn", programId=str(brand.programs[-1])).json == {"ok": True}
    assert follow(app, f"{brand.programs[-1]}/jo.hn").status_code == 404
    assert brand.sale(affiliateSlug="jo.hn").json["error"] == "affiliate_not_found"
    assert list_stream_clicks() == []


def test_old_token_of_another_affiliate_is_taken_as_a_slug(brand):
    _prepare(brand, "john-99")
    eva = brand.affiliate("eva")

    link = brand.post(f"/api/v1/affiliates/{eva}/links", {"customAlias": "john-99"})
    assert (link.status_code, link.json["error"]) == (409, "alias_already_taken")
    body = {"programId": str(brand.programs[-1]), "email": "new@example.com", "customAlias": "john-99"}
    assert brand.post("/api/v1/affiliates", body).json["error"] == "alias_already_taken"


def test_imported_slug_that_is_anothers_old_token_is_replaced(brand):
    _prepare(brand, "john-99")
    rows = [{"email": "new@example.com", "slug": "john-99"}]

    answer = brand.person("Owner").post(
        "/api/v1/affiliates/import", {"programId": str(brand.programs[-1]), "affiliates": rows}
    )

    assert answer.status_code in (200, 201), answer.json
    assert brand.rows("select from tracking_link where slug = 'john-99'") == []


def test_holder_of_an_old_token_may_take_it_as_a_slug(brand):
    slug = _prepare(brand, "john-99")
    ((affiliate_id,),) = brand.rows("select affiliate_id from tracking_link where slug = %s", slug)

    link = brand.post(f"/api/v1/affiliates/{affiliate_id}/links", {"customAlias": "john-99"})

    assert link.status_code == 201, link.json
