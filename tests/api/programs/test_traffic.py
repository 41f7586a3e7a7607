"""Tracking status and recent events of a program."""

from uuid import uuid4

import pytest

from models import db
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago
from tests.support.running.hours import start_of_test


@pytest.fixture
def ben(brand):
    brand.program()
    return brand.affiliate("ben")


def _get_resource(brand, resource, query="", program_id=None):
    return brand.get(f"/api/v1/programs/{program_id or brand.programs[-1]}/{resource}{query}")


def _read_status(brand):
    return _get_resource(brand, "tracking-status").json


def _list_events(brand, query=""):
    return _get_resource(brand, "recent-events", query).json


def _to_iso(timestamp):
    return timestamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_program_without_activity_is_not_verified(brand, ben):
    assert _read_status(brand) == {
        "verified": False,
        "verifiedBy": [],
        "lastClickAt": None,
        "lastConversionAt": None,
        "totalClicks30d": 0,
        "totalConversions30d": 0,
        "scriptSeenAt": None,
        "scriptOrigin": None,
    }


def test_status_has_the_last_click_and_conversion_and_thirty_day_totals(brand, ben):
    clicked_at, converted_at = time_ago(days=2), time_ago(days=3)
    insert_click(brand, ben, occurred_at=time_ago(days=40))
    insert_click(brand, ben, occurred_at=clicked_at)
    insert_conversion(brand, ben, occurred_at=time_ago(days=40))
    insert_conversion(brand, ben, occurred_at=converted_at)

    assert _read_status(brand) == {
        "verified": True,
        "verifiedBy": ["click", "conversion"],
        "lastClickAt": _to_iso(clicked_at),
        "lastConversionAt": _to_iso(converted_at),
        "totalClicks30d": 1,
        "totalConversions30d": 1,
        "scriptSeenAt": None,
        "scriptOrigin": None,
    }


@pytest.mark.parametrize("insert", [insert_click, insert_conversion], ids=["click", "conversion"])
def test_one_old_row_verifies_permanently(brand, ben, insert):
    insert(brand, ben, occurred_at=time_ago(days=900))

    assert _read_status(brand)["verified"] is True


def test_test_sale_verifies_but_is_not_counted(brand, ben):
    insert_conversion(brand, ben, is_test=True)

    assert (_read_status(brand)["verified"], _read_status(brand)["totalConversions30d"]) == (True, 0)


def test_totals_equal_the_statistics(brand, ben):
    parent_id = insert_conversion(brand, ben)
    for columns in (
        {"type": "LeadReward"},
        {"type": "Bonus"},
        {"status": "Denied"},
        {"status": "Invalidated"},
        {"parent_id": parent_id},
    ):
        insert_conversion(brand, ben, **columns)
    insert_click(brand, ben, is_duplicate=True)
    (stats,) = brand.get("/api/v1/programs/stats").json

    assert _read_status(brand)["totalConversions30d"] == stats["conversions30d"] == 2
    assert _read_status(brand)["totalClicks30d"] == stats["clicks30d"] == 0


def test_click_and_conversion_events_have_their_fields(brand, ben):
    clicked_at, converted_at = time_ago(hours=1), time_ago(hours=2)
    click_id = insert_click(brand, ben, occurred_at=clicked_at, sub_id="naïve-日本")
    conversion_id = insert_conversion(
        brand, ben, occurred_at=converted_at, commission_cents=1_000, reversed_cents=100, attribution_method="coupon"
    )

    assert _list_events(brand) == [
        {
            "type": "click",
            "id": str(click_id),
            "affiliateId": str(ben),
            "occurredAt": _to_iso(clicked_at),
            "subId": "naïve-日本",
            "slug": "ben",
            "isDuplicate": False,
            "outcome": "recorded",
        },
        {
            "type": "conversion",
            "id": str(conversion_id),
            "affiliateId": str(ben),
            "occurredAt": _to_iso(converted_at),
            "subId": None,
            "amountCents": 10_000,
            "currency": "USD",
            "commissionCents": 900,
            "status": "Pending",
            "conversionType": "OneTime",
            "attributionMethod": "coupon",
            "isTest": False,
            "locked": False,
        },
    ]


def test_event_of_imported_history_is_locked(brand, ben):
    import_sales(brand, build_past_sale())

    assert [(event["status"], event["locked"]) for event in _list_events(brand)] == [("Pending", True)]


def test_every_list_of_conversions_has_their_lock(app):
    schemas = app.test_client().get("/api/openapi.json").json["components"]["schemas"]
    fields = {name: schema.get("properties", {}) for name, schema in schemas.items()}
    # Events are about conversions that are not locked: an import sends none.
    conversions = {
        name
        for name, properties in fields.items()
        if {"commissionCents", "status"} <= set(properties) and not name.endswith("Data")
    }

    assert {"Conversion", "OwnConversion", "EmbedConversion", "RecentEvent"} <= conversions
    assert [name for name in conversions if "locked" not in fields[name]] == []


def test_events_are_interleaved_newest_first(brand, ben):
    for hours in (4, 1, 6):
        insert_click(brand, ben, occurred_at=time_ago(hours=hours))
    for hours in (5, 2, 3):
        insert_conversion(brand, ben, occurred_at=time_ago(hours=hours))

    kinds = [event["type"][:2] for event in _list_events(brand)]
    assert kinds == ["cl", "co", "co", "cl", "co", "cl"]
    assert [event["type"] for event in _list_events(brand, "?limit=2")] == ["click", "conversion"]


def test_override_is_not_an_event(brand, ben):
    parent_id = insert_conversion(brand, ben)
    insert_conversion(brand, ben, parent_id=parent_id)

    assert [event["id"] for event in _list_events(brand)] == [str(parent_id)]


def test_program_without_activity_has_no_events(brand, ben):
    assert _list_events(brand) == []


@pytest.mark.parametrize(
    ("query", "number"), [("", 20), ("?limit=1", 1), ("?limit=100", 100), ("?limit=1000000000000000000", 100)]
)
def test_limit_defaults_to_20_and_is_at_most_100(brand, ben, query, number):
    with db.unit_of_work(brand.id):
        db.db.stage(
            "insert into click (id, organization_id, program_id, affiliate_id, slug, occurred_at)"
            " select gen_random_uuid(), %s, %s, %s, 'ben', now() from generate_series(1, 101)",
            (brand.id, brand.programs[-1], ben),
        )

    assert len(_list_events(brand, query)) == number


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "ten", "", "%00", "１", "9" * 31])
def test_limit_must_be_a_positive_integer(brand, ben, limit):
    assert _get_resource(brand, "recent-events", f"?limit={limit}").status_code == 400


@pytest.mark.parametrize("resource", ["tracking-status", "recent-events", "budget-status"])
@pytest.mark.parametrize("program_id", [str(uuid4()), "stats-of-mine", "%00"], ids=["unknown", "no id", "NUL"])
def test_unknown_program_returns_404(brand, resource, program_id):
    answer = _get_resource(brand, resource, program_id=program_id)

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("resource", ["tracking-status", "recent-events", "budget-status"])
def test_other_tenants_program_returns_404(brand, rival, resource):
    answer = _get_resource(brand, resource, program_id=rival.program())

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("resource", ["tracking-status", "recent-events", "budget-status"])
def test_archived_program_is_still_readable(brand, ben, resource):
    brand.rows("update program set archived_at = %s where id = %s", start_of_test(), brand.programs[-1])

    assert _get_resource(brand, resource).status_code == 200


@pytest.mark.parametrize("source", ["import", "manual", "restore"])
def test_untracked_conversion_does_not_verify(brand, ben, source):
    insert_conversion(brand, ben, source=source)

    status = _read_status(brand)

    assert (status["verified"], status["verifiedBy"], status["lastConversionAt"]) == (False, [], None)


def test_signed_sale_verifies_but_import_and_manual_sale_do_not(brand, ben):
    import_sales(brand, build_past_sale())
    body = {"programId": str(brand.programs[-1]), "affiliateId": str(ben), "amountCents": 100}
    assert brand.post("/api/v1/conversions", body).status_code == 201
    assert _read_status(brand)["verified"] is False

    brand.sale()
    drain()

    assert _read_status(brand)["verifiedBy"] == ["conversion"]
