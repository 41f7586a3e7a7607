"""Applications of known people and their slugs, through HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from models import db
from tests.support.api.applications import apply, list_applicants, list_events
from tests.support.api.invite_requests import take_slug_elsewhere
from tests.support.rows.brands import Partner
from tests.support.switches.brought_rows import add_old_token


def test_second_application_returns_the_same_response_and_writes_nothing(campaign):
    first = apply(campaign, customAlias="ada", fullName="Ada")
    second = apply(campaign, customAlias="ada", fullName="Somebody else")
    upper_case = apply(campaign, email="ADA@example.com")

    assert second.data == first.data == upper_case.data
    assert list_applicants(campaign, "full_name") == [("Ada",)]
    assert len(list_events(campaign)) == 1


def test_existing_affiliate_is_unchanged(campaign):
    campaign.affiliate("ada")

    answer = apply(campaign, fullName="Somebody else", website="x")

    assert (answer.status_code, answer.json["status"]) == (200, "Pending")
    assert campaign.rows("select full_name, status, application_data from affiliate") == [("Ada", "Approved", None)]


def test_account_exists_is_true_only_for_known_people(campaign, rival):
    existing, stranger = f"known-{uuid4().hex}", f"stranger-{uuid4().hex}"
    rival.program()
    rival.affiliate(existing)

    answers = [apply(campaign, email=f"{name}@example.com") for name in (existing, existing, stranger, stranger)]

    assert [answer.json["accountExists"] for answer in answers] == [True, True, False, False]


def test_alias_becomes_the_slug(campaign):
    campaign.program(auto_approve=True)
    apply(campaign, customAlias="ada-tips")

    assert campaign.rows("select slug, custom_alias, is_default from tracking_link") == [("ada-tips", "ada-tips", True)]
    assert campaign.sale(affiliateSlug="ada-tips").status_code == 200


def test_taken_alias_is_refused_identically_for_known_and_new_people(campaign):
    campaign.affiliate("ben")
    campaign.affiliate("cleo")

    stranger, affiliate = (
        apply(campaign, customAlias="ben"),
        apply(campaign, email="cleo@example.com", customAlias="ben"),
    )

    assert (stranger.status_code, stranger.json["error"]) == (409, "alias_already_taken")
    assert affiliate.data == stranger.data
    assert list_applicants(campaign, "id") == []


def test_old_token_of_another_affiliate_is_taken(campaign):
    campaign.affiliate("ben")
    add_old_token(campaign, "ben", "ben-99")

    answer = apply(campaign, customAlias="ben-99")

    assert (answer.status_code, answer.json["error"]) == (409, "alias_already_taken")
    assert list_applicants(campaign, "id") == []


def test_account_from_sign_in_counts_as_existing(campaign):
    person = f"ada-{uuid4().hex}@example.com"
    Partner(campaign.app, person).get("/api/v1/me/sub-affiliate/recruits")

    answers = [apply(campaign, email=person) for _ in range(2)]

    assert [answer.json["accountExists"] for answer in answers] == [True, True]


def test_refusal_does_not_reveal_who_owns_a_slug(campaign, rival):
    slug, email = f"slug-{uuid4().hex}", f"ada-{uuid4().hex}@example.com"
    take_slug_elsewhere(campaign, rival, "account", slug=slug, email=email)

    by_owner, by_stranger = (apply(campaign, email=address, customAlias=slug) for address in (email, "eve@x.test"))

    assert (by_owner.status_code, by_owner.json["error"]) == (409, "alias_already_taken")
    assert by_owner.data == by_stranger.data
    assert list_applicants(campaign, "id") == []


def test_slug_of_the_organization_is_reused_in_another_campaign(campaign, rival):
    slug, email = f"slug-{uuid4().hex}", f"ada-{uuid4().hex}@example.com"
    apply(campaign, email=email, customAlias=slug)
    take_slug_elsewhere(campaign, rival, "account", slug=slug, email="zoe@x.test")
    campaign.program()

    by_owner, by_stranger = (apply(campaign, email=address, customAlias=slug) for address in (email, "eve@x.test"))

    assert (by_owner.status_code, by_stranger.status_code) == (200, 409)
    assert campaign.rows("select slug from tracking_link") == [(slug,), (slug,)]


def test_new_alias_is_added_next_to_the_existing_slug(campaign):
    apply(campaign, customAlias="ada")
    campaign.program()

    apply(campaign, customAlias="ada-two")

    links = campaign.rows(
        "select slug, custom_alias, is_default from tracking_link where program_id = %s order by slug",
        campaign.programs[-1],
    )
    assert links == [("ada", None, True), ("ada-two", "ada-two", False)]


def test_deleted_affiliate_may_apply_again_under_another_alias(campaign):
    apply(campaign, customAlias="ada")
    with db.unit_of_work(campaign.id):
        db.db.stage("update affiliate set deleted_at = %s", (datetime.now(UTC) - timedelta(days=1),))

    same, other = apply(campaign, customAlias="ada"), apply(campaign, customAlias="ada-two")

    assert (same.status_code, other.status_code) == (409, 200)
