"""Sales that credited no affiliate, through HTTP. Source: core spec, uncredited conversions."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from models import db, ids
from models.conversions import uncredited_sales
from models.conversions.uncredited_sales import DroppedSale
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand

URL = "/api/v1/uncredited-conversions"
_NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign and the paused affiliate ben."""
    brand.program()
    brand.affiliate("ben", status="Paused")
    return brand


def _insert(brand, affiliate_id=None, *, is_dismissed=False, **columns):
    ((owner, program_id),) = brand.rows(
        "select id, program_id from affiliate where %s::uuid is null or id = %s order by created_at limit 1",
        affiliate_id,
        affiliate_id,
    )
    values = {
        "id": ids.new_id(), "organization_id": brand.id, "program_id": program_id, "affiliate_id": owner,
        "source": "s2s", "external_event_id": str(uuid4()), "amount_cents": 1_000, "currency": "USD",
        "reason": "affiliate_not_active", "affiliate_status_at_drop": "Paused", "is_test": False, "occurred_at": _NOW,
        "attribution_log": None,
    } | columns  # fmt: skip
    with db.unit_of_work(brand.id):
        uncredited_sales.stage_insert(DroppedSale(**values))
        if is_dismissed:
            uncredited_sales.stage_dismissal(organization_id=brand.id, uncredited_id=values["id"])
    return str(values["id"])


def _ids(answer):
    assert answer.status_code == 200, answer.data
    return [row["id"] for row in answer.json]


def test_sale_of_a_paused_affiliate_is_listed(campaign):
    campaign.sale(externalEventId="order-1", amountCents=700, currency="EUR")

    (row,) = campaign.get(URL).json

    ((affiliate_id,),) = campaign.rows("select id from affiliate")
    assert row.pop("occurredAt").endswith("Z")
    assert [step["code"] for step in row.pop("attribution")][:2] == ["no_coupon", "referral_carried"]
    assert row == {
        "id": str(campaign.rows("select id from uncredited_conversion")[0][0]),
        "affiliateId": str(affiliate_id),
        "affiliateEmail": "ben@example.com",
        "affiliateName": "Ben",
        "programId": str(campaign.programs[0]),
        "amountCents": 700,
        "currency": "EUR",
        "reason": "affiliate_not_active",
        "affiliateStatusAtDrop": "Paused",
        "status": "open",
    }


def test_list_is_a_flat_array_newest_first(campaign):
    ids = [_insert(campaign, occurred_at=_NOW + timedelta(days=day)) for day in (2, 0, 1)]

    assert _ids(campaign.get(URL)) == [ids[0], ids[2], ids[1]]


def test_list_is_filtered_by_status_and_affiliate(campaign):
    cleo = campaign.affiliate("cleo", status="Banned")
    bens, cleos = _insert(campaign), _insert(campaign, cleo)
    dismissed = _insert(campaign, cleo, is_dismissed=True)

    assert set(_ids(campaign.get(URL))) == {bens, cleos}
    assert _ids(campaign.get(f"{URL}?status=dismissed")) == [dismissed]
    assert set(_ids(campaign.get(f"{URL}?status=all"))) == {bens, cleos, dismissed}
    assert _ids(campaign.get(f"{URL}?affiliateId={cleo}")) == [cleos]
    assert set(_ids(campaign.get(f"{URL}?affiliateId={cleo}&status=all"))) == {cleos, dismissed}
    assert _ids(campaign.get(f"{URL}?affiliateId={uuid4()}")) == []


def test_list_returns_at_most_500_rows(campaign):
    for _ in range(501):
        _insert(campaign)

    assert len(campaign.get(URL).json) == 500


@pytest.mark.parametrize("query", ["status=closed", "status=", "affiliateId=ben"])
def test_invalid_query_is_refused(campaign, query):
    answer = campaign.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [query.split("=")[0]]


def test_summary_totals_open_sales_by_currency(campaign):
    empty = campaign.get(f"{URL}/summary").json
    _insert(campaign, currency="USD")
    _insert(campaign, currency="EUR", amount_cents=10**12)
    _insert(campaign, currency="EUR", amount_cents=5)
    _insert(campaign, is_dismissed=True)

    assert empty == {"openCount": 0, "byCurrency": []}
    assert campaign.get(f"{URL}/summary").json == {
        "openCount": 3,
        "byCurrency": [
            {"currency": "EUR", "amountCents": 10**12 + 5, "count": 2},
            {"currency": "USD", "amountCents": 1_000, "count": 1},
        ],
    }


def test_test_sales_are_not_listed(campaign):
    sale_id = _insert(campaign, is_test=True)

    assert campaign.get(f"{URL}?status=all").json == []
    assert campaign.get(f"{URL}/summary").json["openCount"] == 0
    assert campaign.call("PATCH", f"{URL}/{sale_id}/dismiss").status_code == 404


def test_row_of_a_deleted_affiliate_is_still_listed(campaign):
    sale_id = _insert(campaign)
    campaign.rows("update affiliate set deleted_at = now() returning 1")

    assert _ids(campaign.get(URL)) == [sale_id]


def test_row_is_dismissed_once(campaign):
    sale_id = _insert(campaign)

    first = campaign.call("PATCH", f"{URL}/{sale_id}/dismiss")
    second = campaign.person("Manager").call("PATCH", f"{URL}/{sale_id}/dismiss")

    assert (first.status_code, first.json["id"], first.json["status"]) == (200, sale_id, "dismissed")
    assert (second.status_code, second.json) == (200, first.json)
    ((action, before, after),) = campaign.rows("select action, before, after from audit_entry")
    assert action == "uncredited_conversion.dismissed"
    assert (before["status"], after["status"]) == ("open", "dismissed")


def test_concurrent_dismissals_write_one_audit_entry(campaign):
    sale_id = _insert(campaign)

    answers = run_concurrently(*[lambda: campaign.call("PATCH", f"{URL}/{sale_id}/dismiss")] * 3)

    assert {answer.status_code for answer in answers} == {200}
    assert campaign.rows("select count(*) from audit_entry") == [(1,)]


def test_other_tenants_row_returns_404(campaign, rival):
    sale_id = _insert(campaign)

    for row_id in (sale_id, uuid4(), "nonsense"):
        answer = rival.call("PATCH", f"{URL}/{row_id}/dismiss")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(f"{URL}?status=all").json == []
    assert campaign.rows("select status from uncredited_conversion") == [("open",)]


def test_reading_needs_a_plan_and_dismissing_a_manager_or_write_key(app, campaign):
    sale_id = _insert(campaign)
    dismiss = f"{URL}/{sale_id}/dismiss"
    reader, viewer = campaign.other_key(scope="read"), campaign.person("Viewer")
    free = Brand.create(app, plan="Free")

    for path in (URL, f"{URL}/summary"):
        assert reader.get(path).status_code == 200
        assert viewer.get(path).status_code == 200
        assert free.get(path).status_code == 402
        assert free.person("Viewer").get(path).status_code == 200
    assert "read_write" in reader.call("PATCH", dismiss).json["message"]
    assert viewer.call("PATCH", dismiss).status_code == 403
    assert free.call("PATCH", dismiss).status_code == 402
