"""Hostile forms and queries for the pages of imports and webhooks are answered without a server error."""

import pytest

from pages.brand.imports import new_import
from tests.support.api.import_requests import build_past_sale, import_sales

_TEXTS = ["", " ", "x" * 70_000, "nul\x00", "Zoë 李 \u202e", "-1", "9" * 40, "null", "<b>", "{{ 7 * 7 }}", "'; --"]
_FORMS = {
    "/dashboard/imports/new": ("program", "packed", "skip", "do", "then", "_key"),
    "/dashboard/imports/{import_id}/undo": ("_key",),
    "/dashboard/webhooks": ("url", "events", "description", "_key"),
    "/dashboard/webhooks/{endpoint_id}": ("url", "events", "description", "type", "_key"),
    "/dashboard/webhooks/{endpoint_id}/deliveries/{delivery_id}": ("_key",),
}
_FILE = "affiliateSlug,amount,commission,currency,occurredAt\nben,1.00,0.10,EUR,2024-01-31\n"
_GOOD = {"url": "https://localhost/other", "events": "*", "packed": new_import.pack(_FILE)}
_ACTIONS = {
    "/dashboard/imports/new": ("look", "import"),
    "/dashboard/webhooks/{endpoint_id}": ("change", "sample", "rotate", "redeliver"),
}


@pytest.fixture
def names(brand):
    program_id = str(brand.program())
    brand.affiliate("ben")
    endpoint_id = brand.endpoint("https://localhost/hook")["id"]
    return {
        "program_id": program_id,
        "import_id": import_sales(brand, build_past_sale()).json["jobId"],
        "endpoint_id": endpoint_id,
        "delivery_id": brand.post(f"/api/v1/webhooks/{endpoint_id}/test").json["deliveryId"],
    }


@pytest.mark.parametrize("path", _FORMS)
def test_hostile_forms_return_no_server_error(visitor, links, names, path):
    visitor.open(links("owner"))
    for action in _ACTIONS.get(path, (None,)):
        for field in _FORMS[path]:
            for text in _TEXTS:
                form = _GOOD | {"program": names["program_id"], "do": action or "look", field: text}
                answer = visitor.send(path.format(**names), form)
                assert answer.status_code < 500, (action, field, text[:20], answer.text[-600:])


@pytest.mark.parametrize("query", ["status", "eventType", "since", "until", "cursor", "seen", "kind", "program"])
def test_hostile_queries_return_no_server_error(visitor, links, names, query):
    visitor.open(links("owner"))
    for path in (*_FORMS, "/dashboard/imports", "/dashboard/webhooks/{endpoint_id}/fragment"):
        for text in ("x" * 3_000, "nul%00", "%F0%9F%98%80", "-1", "%3Cb%3E", "%ff"):
            answer = visitor.open(f"{path.format(**names)}?{query}={text}")
            assert answer.status_code in (200, 400), (path, text[:20])
