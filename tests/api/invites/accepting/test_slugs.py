"""Slug of an affiliate who accepts an invite, through HTTP. Source: core spec, "Affiliate invites"."""

import re

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.invite_requests import (
    accept_invite,
    invite,
    list_invites,
    take_slug_elsewhere,
    token_from_invite,
    unique_email,
    unique_slug,
)
from tests.support.rows.brands import Partner


def test_invite_without_a_slug_yields_a_random_one_without_a_warning(campaign):
    answer = accept_invite(campaign, token_from_invite(invite(campaign)))

    assert re.fullmatch(r"[a-z2-9]{8}", answer.json["slug"])
    assert "warning" not in answer.json
    assert list_invites(campaign, "kept_slug") == [(None,)]


@pytest.mark.parametrize("owner", ["affiliate", "rival", "account"])
def test_slug_taken_meanwhile_is_replaced_with_a_warning(campaign, rival, owner):
    slug = unique_slug()
    token = token_from_invite(invite(campaign, slug=slug))
    if owner == "account":
        campaign.rows(
            "insert into affiliate_account (id, subject, email, slug) values (gen_random_uuid(), %s, %s, %s)"
            " returning id",
            slug,
            unique_email(),
            slug,
        )
    else:
        rival.program()
        {"affiliate": campaign, "rival": rival}[owner].affiliate(slug)

    first, again = accept_invite(campaign, token), accept_invite(campaign, token)

    assert (first.status_code, first.json["warning"]) == (200, "slug_unavailable")
    assert first.json["slug"] != slug
    assert again.json == first.json
    assert list_invites(campaign, "slug, kept_slug") == [(slug, None)]


@pytest.mark.parametrize("owner", ["rival", "account"])
@pytest.mark.parametrize("is_theirs", [True, False])
def test_slug_taken_elsewhere_is_replaced_for_any_owner(campaign, rival, owner, is_theirs):
    email, slug = unique_email(), unique_slug()
    token = token_from_invite(invite(campaign, email=email, slug=slug))
    take_slug_elsewhere(campaign, rival, owner, slug=slug, email=email if is_theirs else unique_email())

    answer = accept_invite(campaign, token)

    assert (answer.status_code, answer.json["warning"]) == (200, "slug_unavailable")
    assert re.fullmatch(r"[a-z2-9]{8}", answer.json["slug"])


def test_slug_reserved_meanwhile_is_replaced(campaign):
    token = token_from_invite(invite(campaign))
    campaign.rows("update affiliate_invite set slug = 'admin' returning id")

    assert accept_invite(campaign, token).json["warning"] == "slug_unavailable"


def test_existing_slug_stays_default_and_the_invited_one_is_added(campaign):
    email, existing, promised = unique_email(), unique_slug("known"), unique_slug("promised")
    campaign.affiliate(existing, email=email)
    program_id = campaign.program()

    answer = accept_invite(campaign, token_from_invite(invite(campaign, email=email, slug=promised)))

    assert (answer.json["slug"], "warning" in answer.json) == (promised, False)
    links = campaign.rows("select slug, is_default from tracking_link where program_id = %s order by slug", program_id)
    assert links == [(existing, True), (promised, False)]


def test_slug_promised_by_two_brands_goes_to_one_of_two_concurrent_accepts(campaign, rival):
    slug = unique_slug()
    rival.program()
    tokens = [token_from_invite(invite(brand, slug=slug)) for brand in (campaign, rival)]

    answers = run_concurrently(*[lambda token=token: accept_invite(campaign, token) for token in tokens])

    assert sorted(answer.json["slug"] == slug for answer in answers) == [False, True]
    assert [answer.json.get("warning") for answer in answers].count("slug_unavailable") == 1


def test_enrollment_with_the_promised_slug_keeps_it(campaign):
    email, slug = unique_email(), unique_slug()
    token = token_from_invite(invite(campaign, email=email, slug=slug))
    campaign.affiliate(slug, email=email)

    answer = accept_invite(campaign, token)

    assert (answer.json["slug"], "warning" in answer.json) == (slug, False)


def test_invite_slug_becomes_account_slug_at_first_sign_in(campaign):
    email, slug = unique_email(), unique_slug()
    accept_invite(campaign, token_from_invite(invite(campaign, email=email, slug=slug)))

    from api.access import member_callers

    account = member_callers.find_account(Partner(campaign.app, email).token)

    assert account is not None
    assert account.slug == slug
    assert campaign.rows("select account_id from affiliate") == [(account.id,)]


def test_account_with_a_slug_keeps_it(campaign):
    from api.access import callers, member_callers

    email, first, second = unique_email(), unique_slug("first"), unique_slug("second")
    accept_invite(campaign, token_from_invite(invite(campaign, email=email, slug=first)))
    token = Partner(campaign.app, email).token
    member_callers.find_account(token)
    campaign.program()
    accept_invite(campaign, token_from_invite(invite(campaign, email=email, slug=second)))
    callers.clear_cache()

    account = member_callers.find_account(token)

    assert account is not None
    assert account.slug == first
