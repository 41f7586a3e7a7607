"""The connection route: the organization of a key, and who may call it."""

from uuid import UUID

from tests.support.rows.brands import Brand

URL = "/api/v1/automation/connection"


def test_connection_shows_organization_and_key_hint(brand):
    reader = brand.other_key(scope="read", is_test=True)

    assert brand.get(URL).json == {
        "organizationId": str(brand.id),
        "organizationName": "Brand",
        "keyHint": brand.api_key[-4:],
        "scope": "read_write",
        "isTest": False,
        "planTier": "Growth",
    }
    connection = reader.get(URL).json
    assert (connection["keyHint"], connection["scope"], connection["isTest"]) == (reader.api_key[-4:], "read", True)


def test_member_connection_has_no_key_hint(brand):
    connection = brand.person().get(URL).json

    assert (connection["organizationId"], connection["keyHint"]) == (str(brand.id), None)


def test_refused_connection_states_the_reason(app, brand):
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
