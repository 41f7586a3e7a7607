"""Sample events of each trigger: real events as they were sent, else a made-up one."""

import json
from uuid import UUID

from domain.webhooks import events
from tests.support.rows.brands import Brand

URL = "/api/v1/automation/events"


def _get_samples(brand, event, query=""):
    return brand.get(f"{URL}/{event}/samples{query}")


def test_trigger_without_events_has_a_made_up_sample(brand):
    for event in events.TESTABLE:
        (sample,) = _get_samples(brand, event).json
        assert list(sample) == ["id", "type", "createdAt", "organizationId", "data"], event
        assert (sample["type"], sample["organizationId"]) == (event, str(brand.id))
        assert sample["data"] == events.sample(event)
        assert sample["id"] == _get_samples(brand, event).json[0]["id"]


def test_payout_sample_has_every_rail_reference(brand):
    (sample,) = _get_samples(brand, "payout.paid").json

    assert {
        "processorTransferId",
        "walletBatchId",
        "walletTransactionId",
        "gpOutboundPaymentId",
        "externalTransactionId",
    } <= set(sample["data"])


def test_real_samples_are_exact_newest_first_without_test_events(brand, rival, receiver, drain):
    brand.program()
    brand.affiliate("ben")
    endpoint = brand.endpoint(receiver.url, ["conversion.created"])
    for number in range(12):
        brand.sale(externalEventId=f"order-{number}")
    drain()
    brand.post(f"/api/v1/webhooks/{endpoint['id']}/test", {"type": "conversion.created"})
    drain()

    samples = _get_samples(brand, "conversion.created")
    bodies_by_id = {received.event["id"]: received.body for received in receiver.received}
    assert len(bodies_by_id) == 13
    bodies = [bodies_by_id[sample["id"]] for sample in samples.json]
    assert samples.data == b"[" + b",".join(bodies) + b"]"
    moments = [json.loads(body)["createdAt"] for body in bodies]
    assert len(bodies) == 3
    assert moments == sorted(moments, reverse=True)
    ((newest,),) = brand.rows("select id from event where not is_sample order by created_at desc, id desc limit 1")
    assert samples.json[0]["id"] == f"evt_{UUID(str(newest)).hex}"
    counts = {
        limit: len(_get_samples(brand, "conversion.created", f"?limit={limit}").json) for limit in (1, 2, 10, 500)
    }
    assert counts == {1: 1, 2: 2, 10: 10, 500: 10}
    assert len(_get_samples(rival, "conversion.created", "?limit=10").json) == 1
    assert _get_samples(rival, "conversion.created").json[0]["organizationId"] == str(rival.id)


def test_invalid_sample_request_is_refused(app, brand):
    for event in ("conversion.denied", "*", "test", "conversion_created", "x", "%00", "x" * 2000):
        refused = _get_samples(brand, event)
        assert (refused.status_code, refused.json["error"]) == (400, "unknown_event"), event
        assert refused.json["valid"] == list(events.TESTABLE)
    for limit in ("0", "-1", "x", "", "1.5", "%00", "9" * 40):
        assert _get_samples(brand, "payout.paid", f"?limit={limit}").status_code == 400, limit
    assert _get_samples(brand.other_key(scope="read"), "payout.paid").status_code == 200
    assert _get_samples(Brand.create(app, plan="Free"), "payout.paid").status_code == 402
    assert _get_samples(Brand(app, brand.id, "nonsense", ""), "payout.paid").status_code == 401
