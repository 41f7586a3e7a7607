"""Applications of people who are known already, and the slug that they have, through HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from models import db
from tests.support.api.applications import apply, list_applicants, list_events
from tests.support.api.invite_requests import take_slug_elsewhere
from tests.support.rows.brands import Partner


def test_a_second_application_is_answered_alike_and_writes_nothing(campaign):
    first = apply(campaign, customAlias="ada", fullName="Ada")
    second = apply(campaign, customAlias="ada", fullName="Somebody else")
    cased = apply(campaign, email="ADA@example.com")

    assert second.data == first.data == cased.data
    assert list_applicants(campaign, "full_name") == [("Ada",)]
    assert len(list_events(campaign)) == 1


def test_an_affiliate_of_the_brand_is_left_as_they_are(campaign):
    campaign.affiliate("ada")

    answer = apply(campaign, fullName="Somebody else", website="x")

    assert (answer.status_code, answer.json["status"]) == (200, "Pending")
    assert campaign.rows("select full_name, status, application_data from affiliate") == [("Ada", "Approved", None)]


def test_an_account_is_one_that_was_there_before(campaign, rival):
    known, stranger = f"known-{uuid4().hex}", f"stranger-{uuid4().hex}"
    rival.program()
    rival.affiliate(known)

    answers = [apply(campaign, email=f"{name}@example.com") for name in (known, known, stranger, stranger)]

    assert [answer.json["accountExists"] for answer in answers] == [True, True, False, False]


def test_an_alias_becomes_the_slug(campaign):
    campaign.program(auto_approve=True)
    apply(campaign, customAlias="ada-tips")

    assert campaign.rows("select slug, custom_alias, is_default from tracking_link") == [("ada-tips", "ada-tips", True)]
    assert campaign.sale(affiliateSlug="ada-tips").status_code == 200


def test_an_alias_of_somebody_else_is_refused_to_everybody_alike(campaign):
    campaign.affiliate("ben")
    campaign.affiliate("cleo")

    stranger, affiliate = (
        apply(campaign, customAlias="ben"),
        apply(campaign, email="cleo@example.com", customAlias="ben"),
    )

    assert (stranger.status_code, stranger.json["error"]) == (409, "alias_already_taken")
    assert affiliate.data == stranger.data
    assert list_applicants(campaign, "id") == []


def test_an_account_by_sign_in_alone_exists_too(campaign):
    person = f"ada-{uuid4().hex}@example.com"
    Partner(campaign.app, person).get("/api/v1/me/sub-affiliate/recruits")

    answers = [apply(campaign, email=person) for _ in range(2)]

    assert [answer.json["accountExists"] for answer in answers] == [True, True]


def test_whose_an_accounts_slug_is_cannot_be_found_out_by_trying_emails(campaign, rival):
    slug, email = f"slug-{uuid4().hex}", f"ada-{uuid4().hex}@example.com"
    take_slug_elsewhere(campaign, rival, "account", slug=slug, email=email)

    theirs, another = (apply(campaign, email=one, customAlias=slug) for one in (email, "eve@x.test"))

    assert (theirs.status_code, theirs.json["error"]) == (409, "alias_already_taken")
    assert theirs.data == another.data
    assert list_applicants(campaign, "id") == []


def test_who_has_a_slug_in_the_organization_keeps_it_in_another_campaign_whosever_it_is_elsewhere(campaign, rival):
    slug, email = f"slug-{uuid4().hex}", f"ada-{uuid4().hex}@example.com"
    apply(campaign, email=email, customAlias=slug)
    take_slug_elsewhere(campaign, rival, "account", slug=slug, email="zoe@x.test")
    campaign.program()

    kept, another = (apply(campaign, email=one, customAlias=slug) for one in (email, "eve@x.test"))

    assert (kept.status_code, another.status_code) == (200, 409)
    assert campaign.rows("select slug from tracking_link") == [(slug,), (slug,)]


def test_a_persons_slug_of_another_campaign_is_kept_and_an_alias_is_added(campaign):
    apply(campaign, customAlias="ada")
    campaign.program()

    apply(campaign, customAlias="ada-two")

    links = campaign.rows(
        "select slug, custom_alias, is_default from tracking_link where program_id = %s order by slug",
        campaign.programs[-1],
    )
    assert links == [("ada", None, True), ("ada-two", "ada-two", False)]


def test_who_was_deleted_may_apply_again_under_another_alias(campaign):
    apply(campaign, customAlias="ada")
    with db.unit_of_work(campaign.id):
        db.db.stage("update affiliate set deleted_at = %s", (datetime.now(UTC) - timedelta(days=1),))

    same, other = apply(campaign, customAlias="ada"), apply(campaign, customAlias="ada-two")

    assert (same.status_code, other.status_code) == (409, 200)
