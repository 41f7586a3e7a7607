"""One site, several campaigns: whose a visit is on a page with the tag of one of them. Source: tracking spec, "Install
snippet" and "Browser lead capture".
"""

from uuid import uuid4

import pytest

from pipelines.clicks import public_links
from tests.support.databases import alter
from tests.support.rows.leads import post_browser_lead
from tests.support.rows.link_visits import CLICK, follow, list_stream_clicks, new_slug, post_click, visit


@pytest.fixture
def others(brand, slug):
    """Return the id of a second campaign of the brand, of which the affiliate with the slug is no member."""
    return brand.program()


def _by_body(brand, slug, program_id):
    post_click(brand.app, slug, programId=str(program_id))


def _by_query(brand, slug, program_id):
    visit(brand.app, CLICK, query_string={"slug": slug, "programId": str(program_id)})


def _by_picture(brand, slug, program_id):
    visit(brand.app, f"/api/v1/r/c.gif?programId={program_id}", headers={"Referer": f"https://shop.test/?via={slug}"})


_VISITS = pytest.mark.parametrize("tell", [_by_body, _by_query, _by_picture])


@_VISITS
def test_slug_of_another_campaign_of_the_brand_counts_for_its_own(brand, slug, others, tell):
    for _ in range(2):  # looked up, then remembered
        tell(brand, slug, others)

    assert [(sent.slug, sent.program_id) for sent in list_stream_clicks()] == [(slug, str(brand.programs[0]))] * 2


@_VISITS
def test_slug_of_both_campaigns_counts_for_the_one_whose_tag_it_is(brand, slug, others, tell):
    brand.affiliate(slug, program_id=others, email="second@example.com")

    for program_id in (others, brand.programs[0]):
        tell(brand, slug, program_id)

    assert [sent.program_id for sent in list_stream_clicks()] == [str(others), str(brand.programs[0])]


@_VISITS
@pytest.mark.parametrize("change", ["affiliate set status = 'Paused'", "program set archived_at = now()"])
def test_campaign_of_the_tag_that_earns_nothing_leaves_the_visit_to_another(brand, slug, others, tell, change):
    brand.affiliate(slug, program_id=others, email="second@example.com")
    column = "program_id" if change.startswith("affiliate") else "id"
    alter(brand, f"update {change} where {column} = %s", others)

    tell(brand, slug, others)

    assert [sent.program_id for sent in list_stream_clicks()] == [str(brand.programs[0])]


@_VISITS
def test_slug_of_another_organization_counts_for_nobody(brand, rival, slug, tell):
    rival.program()
    tell(brand, slug, rival.programs[0])
    tell(brand, slug, uuid4())

    assert list_stream_clicks() == []


@_VISITS
def test_slug_of_several_organizations_counts_in_that_of_the_tag(brand, rival, slug, others, tell):
    own = rival.program()
    rival.affiliate(slug)
    newer = rival.program()

    for program_id in (newer, others):
        tell(brand, slug, program_id)

    assert [sent.program_id for sent in list_stream_clicks()] == [str(own), str(brand.programs[0])]


def test_page_is_told_which_campaign_its_click_counts_for(app, brand, slug, others):
    answer = post_click(app, slug, programId=str(others)).json

    assert (answer["programId"], answer["slug"], answer["cookieWindowDays"]) == (str(brand.programs[0]), slug, 45)


@pytest.mark.parametrize("is_member", [False, True])
def test_lead_of_a_page_counts_for_the_campaign_of_its_slug(brand, slug, others, drain, is_member):
    if is_member:
        brand.affiliate(slug, program_id=others, email="second@example.com")

    post_browser_lead(brand, slug=slug, programId=str(others))
    drain()

    assert brand.rows("select program_id from lead") == [(others if is_member else brand.programs[0],)]


def test_lead_of_a_page_of_another_organization_is_none(app, brand, rival, slug, drain):
    rival.program()

    post_browser_lead(brand, slug=slug, programId=str(rival.programs[0]))
    drain()

    assert brand.rows("select id from lead") == rival.rows("select id from lead") == []


def test_address_that_names_a_campaign_leads_to_no_other(app, brand, slug, others):
    alter(
        brand, "update program set referral_destination_url = 'https://shop.test/', hosted_checkout_door_enabled = true"
    )
    public_links.clear_cache()

    assert follow(app, f"{others}/{slug}").status_code == visit(app, f"/door/{others}/{slug}").status_code == 404
    assert follow(app, f"{brand.programs[0]}/{slug}").status_code == 302


def test_debug_explains_a_slug_of_another_campaign(app, brand, slug, others):
    answer = brand.post(
        f"{CLICK}?debug=1", {"slug": slug, "programId": str(others)}, User_Agent="Mozilla/5.0 Firefox/140"
    )

    assert answer.json["debug"]["recorded"] is True
    assert brand.post(f"{CLICK}?debug=1", {"slug": new_slug(), "programId": str(others)}).json["debug"]["reasons"] == [
        "unknown_slug"
    ]
