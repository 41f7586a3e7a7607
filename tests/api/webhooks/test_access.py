"""Access to webhook endpoints and its audit, through HTTP."""

from uuid import uuid4

import pytest

from tests.support.api.lists import assert_foreign_cursors_refused, count_round_trips

URL = "/api/v1/webhooks"
HOOK = "https://localhost/hook"
NOBODY = "01890000-0000-7000-8000-000000000000"


def _create(brand, **fields):
    return brand.post(URL, {"url": HOOK, "events": ["*"]} | fields)


@pytest.mark.parametrize("endpoint_kind", ["a rival's", "an unknown one", "no id"])
def test_other_tenants_endpoint_returns_404(brand, rival, endpoint_kind):
    rival_endpoint = _create(rival).json
    url = f"{URL}/" + {"a rival's": rival_endpoint["id"], "an unknown one": NOBODY, "no id": "x"}[endpoint_kind]

    answers = [
        brand.get(url),
        brand.call("PATCH", url, {"events": "malformed"}),
        brand.call("DELETE", url),
        brand.post(f"{url}/rotate-secret"),
        brand.post(f"{url}/test", {"type": 5}),
        brand.get(f"{url}/deliveries"),
        brand.post(f"{url}/deliveries/{uuid4()}/redeliver"),
        brand.post(f"{url}/redeliver", {"since": "malformed"}),
    ]

    assert {(answer.status_code, answer.json["error"]) for answer in answers} == {(404, "not_found")}
    assert rival.get(f"{URL}/{rival_endpoint['id']}").json["updatedAt"] == rival_endpoint["updatedAt"]


def test_list_pages_through_all_endpoints(brand, rival):
    endpoint_ids = [_create(brand, url=f"{HOOK}/{number}").json["id"] for number in range(3)]
    for number in range(2):
        _create(rival, url=f"{HOOK}/{number}")
        brand.program()

    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json

    assert [item["id"] for item in first["items"] + second["items"]] == endpoint_ids[::-1]
    assert_foreign_cursors_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/programs"))


def test_list_round_trips_do_not_grow_with_rows(brand):
    endpoint_id = _create(brand).json["id"]
    brand.post(f"{URL}/{endpoint_id}/test")
    lists = (URL, f"{URL}/{endpoint_id}/deliveries")
    trips_of_one = [count_round_trips(lambda url=url: brand.get(url)) for url in lists]
    for number in range(9):
        _create(brand, url=f"{HOOK}/{number}")
        brand.post(f"{URL}/{endpoint_id}/test")

    assert [count_round_trips(lambda url=url: brand.get(url)) for url in lists] == trips_of_one


def test_lapsed_plan_keeps_its_endpoints(brand, endpoint, receiver, drain):
    delivery_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    drain()
    brand.set(plan="Free")
    url = f"{URL}/{endpoint['id']}"

    refused = [
        _create(brand),
        brand.call("PATCH", url, {"events": ["*"]}),
        brand.post(f"{url}/rotate-secret"),
        brand.post(f"{url}/test"),
    ]
    allowed = [
        brand.get(URL),
        brand.get(url),
        brand.get(f"{url}/deliveries"),
        brand.post(f"{url}/deliveries/{delivery_id}/redeliver"),
    ]

    assert {(answer.status_code, answer.json["error"]) for answer in refused} == {(402, "plan_tier_required")}
    assert {answer.status_code for answer in allowed} == {200}
    assert brand.call("DELETE", url).status_code == 204


def test_read_key_cannot_write(brand, endpoint):
    reader, url = brand.other_key(scope="read"), f"{URL}/{endpoint['id']}"

    assert reader.get(url).status_code == 200
    for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/rotate-secret"), ("POST", "/test")):
        assert reader.call(method, f"{url}{path}", {}).status_code == 403
    assert _create(reader).status_code == 403


def test_every_change_is_audited(brand, endpoint, drain):
    url = f"{URL}/{endpoint['id']}"
    brand.call("PATCH", url, {"events": ["payout.paid"]})
    brand.post(f"{url}/rotate-secret")
    delivery_id = brand.post(f"{url}/test").json["deliveryId"]
    drain()
    brand.post(f"{url}/deliveries/{delivery_id}/redeliver")
    brand.call("DELETE", url)

    rows = brand.rows(
        "select action, entity_id, before->'events', after->'events' from audit_entry order by created_at"
    )
    assert rows == [
        ("webhook_endpoint.created", endpoint["id"], None, ["*"]),
        ("webhook_endpoint.updated", endpoint["id"], ["*"], ["payout.paid"]),
        ("webhook_endpoint.secret_rotated", endpoint["id"], None, None),
        ("webhook_endpoint.tested", endpoint["id"], None, None),
        ("delivery.redelivered", delivery_id, None, None),
        ("webhook_endpoint.deleted", endpoint["id"], ["payout.paid"], None),
    ]
