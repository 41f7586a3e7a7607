"""Deduplication of leads by person and event id (tracking spec, section 7)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.rows.leads import LEAD, SIGNED, count_rows, post_signed_lead


@pytest.mark.parametrize(
    "again", ["ada.lovelace@example.com", "ADA.Lovelace@EXAMPLE.com", "ada.lovelace+spring@example.com"]
)
def test_one_person_is_one_lead_of_an_affiliate(shop, again):
    first = post_signed_lead(shop, email="ada.lovelace@example.com")
    second = post_signed_lead(shop, email=again, name="Other", subId="other")

    assert "leadId" in first.json
    assert (second.status_code, second.json) == (200, {"ok": True, "deduped": True})
    assert count_rows(shop) == (1, 1)


@pytest.mark.parametrize("again", ["adalovelace@gmail.com", "a.d.a.lovelace+x@googlemail.com"])
def test_gmail_dots_do_not_distinguish_people(shop, again):
    post_signed_lead(shop, email="ada.lovelace@gmail.com")

    assert post_signed_lead(shop, email=again).json == {"ok": True, "deduped": True}


def test_leads_are_distinct_by_person_affiliate_and_brand(shop, rival):
    shop.affiliate("rita")
    rival.program()
    rival.affiliate("ben")

    answers = [
        post_signed_lead(shop, email="ada@example.com"),
        post_signed_lead(shop, email="a.da@example.com"),
        post_signed_lead(shop, email="ada@example.com", affiliateSlug="rita"),
        post_signed_lead(rival, email="ada@example.com"),
    ]

    assert all("leadId" in answer.json for answer in answers)


def test_event_id_is_one_lead_for_any_affiliate(shop):
    shop.affiliate("rita")

    first = post_signed_lead(shop, externalEventId="signup-1")
    second = post_signed_lead(shop, externalEventId="signup-1", affiliateSlug="rita")

    assert "leadId" in first.json
    assert second.json == {"ok": True, "deduped": True}
    assert count_rows(shop) == (1, 1)


def test_person_has_several_leads_by_event_id(shop):
    answers = [
        post_signed_lead(shop, email="ada@example.com", externalEventId=event_id) for event_id in ("a", "b", ..., " ")
    ]

    assert ["leadId" in answer.json for answer in answers] == [True, True, True, False]


def test_known_event_is_deduplicated_after_its_affiliate_is_banned(shop):
    post_signed_lead(shop, externalEventId="signup-1")
    shop.rows("update affiliate set status = 'Banned' returning id")

    assert post_signed_lead(shop, externalEventId="signup-1").json == {"ok": True, "deduped": True}


def test_event_id_in_our_own_format_matches_that_lead(shop):
    lead_id = post_signed_lead(shop).json["leadId"]

    assert post_signed_lead(shop, externalEventId=f"lead:{lead_id}").json == {"ok": True, "deduped": True}


def test_lead_and_sale_may_share_an_event_id(shop, drain):
    post_signed_lead(shop, externalEventId="ada-1")
    sale = shop.sale(externalEventId="ada-1")
    drain()

    assert "conversionId" in sale.json
    assert shop.rows("select source from conversion order by source") == [("lead",), ("s2s",)]


@pytest.mark.parametrize("fields", [{"email": "ada@example.com"}, {"externalEventId": "signup-1"}])
def test_concurrent_copies_of_one_lead_are_recorded_once(shop, fields):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post_signed_lead(shop, **fields).json, range(8)))

    assert sorted("leadId" in answer for answer in answers) == [False] * 7 + [True]
    assert count_rows(shop) == (1, 1)


def test_repeated_idempotency_key_returns_the_first_response(shop):
    first = shop.post_signed(SIGNED, LEAD, Idempotency_Key="k-1")
    second = shop.post_signed(SIGNED, LEAD, Idempotency_Key="k-1")
    other = shop.post_signed(SIGNED, LEAD.replace(b"ada", b"bob"), Idempotency_Key="k-1")

    assert second.data == first.data
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")


def test_either_header_carries_the_api_key(shop):
    headers = {"X-Service-Api-Key": shop.api_key, "X-Service-Signature": shop.signature(LEAD)}

    assert "leadId" in shop.app.test_client().post(SIGNED, data=LEAD, headers=headers).json
