"""Whom a key connects to, and who gets that far."""

from uuid import UUID

from tests.support.rows.brands import Brand

URL = "/api/v1/automation/connection"


def test_a_connection_says_whose_key_it_is_and_how_it_ends(brand):
    reader = brand.other_key(scope="read", is_test=True)

    assert brand.get(URL).json == {
        "organizationId": str(brand.id),
        "organizationName": "Brand",
        "keyHint": brand.api_key[-4:],
        "scope": "read_write",
        "isTest": False,
        "planTier": "Growth",
    }
    shown = reader.get(URL).json
    assert (shown["keyHint"], shown["scope"], shown["isTest"]) == (reader.api_key[-4:], "read", True)


def test_a_person_has_no_key_to_hint_at(brand):
    shown = brand.person().get(URL).json

    assert (shown["organizationId"], shown["keyHint"]) == (str(brand.id), None)


def test_who_may_not_connect_is_told_why_at_once(app, brand):
    free = Brand.create(app, plan="Free")
    revoked = brand.other_key()
    ((key_id,),) = brand.rows("select id from api_key order by created_at desc limit 1")
    brand.rows("update api_key set revoked_at = now() where id = %s returning id", UUID(str(key_id)))

    refused = free.get(URL)
    assert (refused.status_code, refused.json["error"], refused.json["required"]) == (
        402,
        "plan_tier_required",
        "Starter",
    )
    assert revoked.get(URL).status_code == 401
    assert Brand(app, brand.id, "nonsense", "").get(URL).status_code == 401
