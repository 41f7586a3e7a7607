"""Screens of imports and webhooks cost the round trips that their views name, however much there is."""

import re

import pytest

from models import db
from pages.brand.imports import history, new
from pages.brand.webhooks import delivery, endpoint, endpoints
from tests.support.api.importing import import_sales, past_sale
from tests.support.api.lists import trips_of
from tests.support.draining import drain
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn

_VIEWS = {
    "/dashboard/imports": history.show_imports,
    "/dashboard/imports/new": new.show_new_import,
    "/dashboard/imports/{import_id}": history.show_import,
    "/dashboard/imports/{import_id}/fragment": history.show_import_part,
    "/dashboard/imports/{import_id}/undo": history.show_undo,
    "/dashboard/webhooks": endpoints.show_webhooks,
    "/dashboard/webhooks/{endpoint_id}": endpoint.show_webhook,
    "/dashboard/webhooks/{endpoint_id}/fragment": endpoint.show_webhook_part,
    "/dashboard/webhooks/{endpoint_id}/deliveries/{delivery_id}": delivery.show_webhook_delivery,
    "/dashboard/webhooks/{endpoint_id}/deliveries/{delivery_id}/fragment": delivery.show_webhook_delivery_part,
}


def _grow(brand):
    """Make one of each more; returns the ids of the newest."""
    with db.unit_of_work(brand.id):
        number = db.db.run("select count(*) from import_job")[0][0]
    made = import_sales(brand, *[past_sale(externalId=f"{number}-{row}") for row in range(number + 1)]).json
    told = brand.endpoint(f"https://127.0.0.1:1/{number}")
    for _ in range(number + 1):
        sent = brand.post(f"/api/v1/webhooks/{told['id']}/test").json
    drain("webhooks")
    return {"import_id": made["jobId"], "endpoint_id": told["id"], "delivery_id": sent["deliveryId"]}


@pytest.mark.parametrize("path", _VIEWS)
def test_a_screen_costs_what_it_says(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    brand.program()
    brand.affiliate("ben")
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    counts = []
    for _ in range(3):
        address = path.format(**_grow(brand))
        visitor.open(address)
        counts.append(trips_of(lambda address=address: visitor.open(address)))

    named = int(re.search(r"Budget: (\d+) round trip", _VIEWS[path].__doc__)[1])
    assert counts == [named] * 3
