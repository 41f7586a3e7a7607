"""One site, several campaigns: attribution of a visit on a page with the tag of one campaign.

Source: tracking spec, "Install snippet" and "Browser lead capture".
"""

from uuid import uuid4

import pytest

from pipelines.clicks import public_links
from tests.support.databases import run_as_brand
from tests.support.rows.leads import post_browser_lead
from tests.support.rows.link_visits import CLICK, follow, list_stream_clicks, new_slug, post_click, visit


@pytest.fixture
def other_campaign_id(brand, slug):
    """Return the id of the brand's second campaign, which the affiliate with the slug has not joined."""
    return brand.program()


def _send_body(brand, slug, program_id):
    post_click(brand.app, slug, programId=str(program_id))


def _send_query(brand, slug, program_id):
    visit(brand.app, CLICK, query_string={"slug": slug, "programId": str(program_id)})


def _load_pixel(brand, slug, program_id):
    visit(brand.app, f"/api/v1/r/c.gif?programId={program_id}", headers={"Referer": f"https://shop.test/?via={slug}"})


_VISITS = pytest.mark.parametrize("send_visit", [_send_body, _send_query, _load_pixel])


@_VISITS
def test_slug_of_another_campaign_of_the_brand_counts_for_its_own(brand, slug, other_campaign_id, send_visit):
    for _ in range(2):  # from the database, then from the cache
        send_visit(brand, slug, other_campaign_id)

    assert [(message.slug, message.program_id) for message in list_stream_clicks()] == [
        (slug, str(brand.programs[0]))
    ] * 2


@_VISITS
def test_slug_of_both_campaigns_counts_for_the_campaign_of_the_tag(brand, slug, other_campaign_id, send_visit):
    brand.affiliate(slug, program_id=other_campaign_id, email="second@example.com")

    for program_id in (other_campaign_id, brand.programs[0]):
        send_visit(brand, slug, program_id)

    assert [message.program_id for message in list_stream_clicks()] == [str(other_campaign_id), str(brand.programs[0])]


@_VISITS
@pytest.mark.parametrize("change", ["affiliate set status = 'Paused'", "program set archived_at = now()"])
def test_visit_counts_for_another_campaign_if_that_of_the_tag_earns_nothing(
    brand, slug, other_campaign_id, send_visit, change
):
    brand.affiliate(slug, program_id=other_campaign_id, email="second@example.com")
    column = "program_id" if change.startswith("affiliate") else "id"
    run_as_brand(brand, f"update {change} where {column} = %s", other_campaign_id)

    send_visit(brand, slug, other_campaign_id)

    assert [message.program_id for message in list_stream_clicks()] == [str(brand.programs[0])]


@_VISITS
def test_slug_of_another_organization_is_not_credited(brand, rival, slug, send_visit):
    rival.program()
    send_visit(brand, slug, rival.programs[0])
    send_visit(brand, slug, uuid4())

    assert list_stream_clicks() == []


@_VISITS
def test_slug_of_several_organizations_counts_for_that_of_the_tag(brand, rival, slug, other_campaign_id, send_visit):
    older = rival.program()
    rival.affiliate(slug)
    newer = rival.program()

    for program_id in (newer, other_campaign_id):
        send_visit(brand, slug, program_id)

    assert [message.program_id for message in list_stream_clicks()] == [str(older), str(brand.programs[0])]


def test_response_names_the_credited_campaign(app, brand, slug, other_campaign_id):
    answer = post_click(app, slug, programId=str(other_campaign_id)).json

    assert (answer["programId"], answer["slug"], answer["cookieWindowDays"]) == (str(brand.programs[0]), slug, 45)


@pytest.mark.parametrize("is_member", [False, True])
def test_lead_of_a_page_counts_for_the_campaign_of_its_slug(brand, slug, other_campaign_id, drain, is_member):
    if is_member:
        brand.affiliate(slug, program_id=other_campaign_id, email="second@example.com")

    post_browser_lead(brand, slug=slug, programId=str(other_campaign_id))
    drain()

    assert brand.rows("select program_id from lead") == [(other_campaign_id if is_member else brand.programs[0],)]


def test_lead_on_another_organizations_page_is_not_created(app, brand, rival, slug, drain):
    rival.program()

    post_browser_lead(brand, slug=slug, programId=str(rival.programs[0]))
    drain()

    assert brand.rows("select id from lead") == rival.rows("select id from lead") == []


def test_url_with_a_campaign_leads_to_no_other_campaign(app, brand, slug, other_campaign_id):
    run_as_brand(
        brand, "update program set referral_destination_url = 'https://shop.test/', hosted_checkout_door_enabled = true"
    )
    public_links.clear_cache()

    assert (
        follow(app, f"{other_campaign_id}/{slug}").status_code
        == visit(app, f"/door/{other_campaign_id}/{slug}").status_code
        == 404
    )
    assert follow(app, f"{brand.programs[0]}/{slug}").status_code == 302


def test_debug_explains_a_slug_of_another_campaign(app, brand, slug, other_campaign_id):
    answer = brand.post(
        f"{CLICK}?debug=1", {"slug": slug, "programId": str(other_campaign_id)}, User_Agent="Mozilla/5.0 Firefox/140"
    )

    assert answer.json["debug"]["recorded"] is True
    assert brand.post(f"{CLICK}?debug=1", {"slug": new_slug(), "programId": str(other_campaign_id)}).json["debug"][
        "reasons"
    ] == ["unknown_slug"]
