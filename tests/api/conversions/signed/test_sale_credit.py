"""Links, campaigns and affiliates that a signed sale may credit (tracking spec, sections 2 and 7)."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from models import db


def _list_sales(brand):
    return brand.rows("select external_event_id from sale")


@pytest.mark.parametrize("slug", ["ben", "BEN", "bEn"])
def test_slug_is_matched_case_insensitively(shop, slug):
    assert shop.sale(affiliateSlug=slug).status_code == 200


def test_other_tenants_slug_is_refused_like_an_unknown_one(shop, rival):
    rival.program()
    rival.affiliate("only-theirs")

    answer = shop.sale(affiliateSlug="only-theirs")

    assert answer.status_code == 400
    assert answer.json == shop.sale(affiliateSlug="nobody-at-all").json
    assert answer.json["error"] == "affiliate_not_found"


@pytest.mark.parametrize(
    "columns",
    [
        {"is_active": False},
        {"suspended_at": datetime(2025, 1, 1, tzinfo=UTC)},
        {"archived_at": datetime(2025, 1, 1, tzinfo=UTC)},
    ],
    ids=["inactive", "suspended", "archived"],
)
def test_closed_campaign_refuses_a_sale(brand, columns):
    brand.program(**columns)
    brand.affiliate("ben")

    answer = brand.sale()

    assert (answer.status_code, answer.json["error"]) == (400, "no_active_program")
    assert sorted(answer.json) == ["doc_url", "error", "message"]
    assert _list_sales(brand) == []


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_click_or_lead_campaign_accepts_a_sale_only_with_a_sale_leg(brand, drain, model):
    terms = {"default_commission_model": model, "default_commission_type": "Fixed", "default_commission_value": 2}
    brand.program(**terms)
    brand.affiliate("without")
    brand.program(**terms, sale_commission_type="Percentage", sale_commission_value=Decimal(5))
    brand.affiliate("with-leg")

    refused, accepted = brand.sale(affiliateSlug="without"), brand.sale(affiliateSlug="with-leg", amountCents=10_000)
    drain()

    assert (refused.status_code, refused.json["error"]) == (400, "not_a_sale_campaign")
    assert sorted(refused.json) == ["doc_url", "error", "message"]
    assert accepted.status_code == 200
    assert brand.rows("select commission_cents from conversion") == [(500,)]


@pytest.mark.parametrize("model", ["Cps", "Cpa", "RevShare", "Hybrid"])
def test_other_campaign_models_accept_a_sale(brand, model):
    brand.program(default_commission_model=model)
    brand.affiliate("ben")

    assert brand.sale().status_code == 200


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_sale_of_an_unapproved_affiliate_leaves_one_uncredited_row(brand, drain, status):
    program_id = brand.program()
    affiliate_id = brand.affiliate("ben", status=status)

    first, repeated = (brand.sale(externalEventId="order-a", currency="JPY", amountCents=900) for _ in range(2))

    assert (first.status_code, first.json["error"]) == (400, "affiliate_not_active")
    assert sorted(first.json) == ["doc_url", "error", "field", "message"]
    assert (repeated.status_code, repeated.json) == (400, first.json)
    assert drain() == 0
    assert _list_sales(brand) == []
    assert brand.rows(
        "select program_id, affiliate_id, external_event_id, amount_cents, currency, affiliate_status_at_drop, status"
        " from uncredited_conversion"
    ) == [(program_id, affiliate_id, "order-a", 900, "JPY", status, "open")]


def test_uncredited_sale_is_accepted_once_the_affiliate_is_approved(brand):
    brand.program()
    affiliate_id = brand.affiliate("ben", status="Pending")
    assert brand.sale(externalEventId="order-a").status_code == 400
    with db.unit_of_work(brand.id):
        db.db.run("update affiliate set status = 'Approved' where id = %s", (affiliate_id,))

    assert "conversionId" in brand.sale(externalEventId="order-a").json
