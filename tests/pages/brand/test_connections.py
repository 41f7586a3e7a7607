"""Connections on the dashboard, with gateways and platforms simulated on this machine."""

import html
import re

import pytest

from models import db
from tests.support.gateways import gateway_connections
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import connect_platform as platform_connected
from tests.support.platforms.platform_connections import play_platform

_HERE = "/dashboard/connections"
_STRIPE = {"_key": "k", "mode": "live", "apiKey": "sk_live_fake", "webhookSecret": "whsec_fake"}


@pytest.fixture
def stage():
    """A simulated gateway on this machine."""
    with gateway_connections.play_gateway() as gateway:
        yield gateway


@pytest.fixture
def shop(brand, stage):
    """Return the connection of a gateway, with the address of its page as `page`."""
    brand.program()
    brand.affiliate("ben")
    connection = gateway_connections.connect_gateway(brand.person("Owner"), stage)
    connection["page"] = f"{_HERE}/{connection['id']}"
    return connection


def _deliver(brand, connection, *notifications):
    path = "/" + connection["webhookUrl"].split("/", 3)[3]
    for notification in notifications:
        answer = brand.app.test_client().open(
            path, method=notification.method, data=notification.body, headers=dict(notification.headers)
        )
        assert answer.status_code == 200
    drain()


def test_catalogue_links_to_each_gateways_form(brand, people):
    visitor = people()
    start = visitor.open(_HERE).text
    assert "No payment provider connected" in start
    assert "No platform connected" in start

    gateways = brand.get(f"/api/v1{_HERE.removeprefix('/dashboard')}/gateways").json
    assert len(gateways) >= 10
    for gateway in gateways:
        page = visitor.open(f"{_HERE}/new/gateway/{gateway['name']}").text
        assert f"<h1>Connect {gateway['label']}</h1>" in page
        assert all(f'name="{field["name"]}"' in page for field in gateway["fields"])
        assert 'class="field secret"' in page or not any(field["secret"] for field in gateway["fields"])
        text, guide = html.unescape(page), gateway["guide"]
        assert f"We verify the keys with {gateway['label']} before saving." in text
        for words in (guide["title"], guide["outcome"], guide["testMode"], *guide["writes"]):
            assert words in text
        assert all(f"<li>{step['text']}</li>" in text for step in guide["steps"])
        assert all(f"<dt>{permission['name']}</dt>" in text for permission in guide["permissions"])
        assert guide["keyUrl"] is None or f'href="{guide["keyUrl"]}" target="_blank"' in text


def test_connected_gateway_shows_the_remaining_steps(brand, people, stage):
    visitor = people("Admin")
    answer = visitor.send(f"{_HERE}/new/gateway/stripe", _STRIPE)
    assert answer.status_code == 200
    assert "Stripe is connected</h1>" in answer.text
    assert "Finish the setup in Stripe" in answer.text
    again = visitor.send(f"{_HERE}/new/gateway/stripe", _STRIPE)
    assert "Stripe is connected</h1>" in again.text

    assert brand.rows("select gateway, mode, status from gateway_connection") == [("stripe", "live", "Active")]
    assert '<table aria-label="Payment providers and stores" role="table">' in visitor.open(_HERE).text


@pytest.mark.parametrize(
    "typed", [{"apiKey": "sk_live_wrong"}, {"apiKey": ""}, {"mode": "none"}, {"apiKey": "x" * 5_000}]
)
def test_credentials_refused_by_the_gateway_show_an_error_and_are_not_stored(brand, people, stage, typed):
    answer = people().send(f"{_HERE}/new/gateway/stripe", _STRIPE | typed)

    assert answer.status_code in (400, 422)
    assert 'role="alert"' in answer.text
    assert "<title>Error: Connect Stripe" in answer.text
    assert brand.rows("select count(*) from gateway_connection") == [(0,)]


def test_every_form_shows_an_error_at_each_missing_key(brand, people):
    visitor = people()
    offers = [("gateway", offer) for offer in brand.get("/api/v1/connections/gateways").json]
    offers += [("platform", offer) for offer in brand.get("/api/v1/platforms/catalogue").json]
    for kind, offer in offers:
        typed = {field["name"]: "  " for field in offer["fields"]}
        refused = visitor.send(f"{_HERE}/new/{kind}/{offer['name']}", typed | {"mode": "live"})
        assert refused.status_code == 422
        wrong = re.findall(r'id="([^"]+)-error"[^>]*>This field is required.', refused.text)
        assert wrong == [field["name"] for field in offer["fields"] if field["required"]]
        assert wrong


def test_second_connection_of_a_gateway_is_refused(people, shop):
    answer = people().send(f"{_HERE}/new/gateway/stripe", _STRIPE)

    assert (answer.status_code, 'role="alert"' in answer.text) == (409, True)


def test_gateway_events_are_listed_with_their_results(brand, people, shop, stage):
    unreferred = stage.pay(Purchase(slug=None, customer="9", email="zoe@example.com"))
    _deliver(
        brand,
        shop,
        *stage.pay(Purchase(slug="ben")).notifications,
        stage.create_malformed_event(),
        *unreferred.notifications,
    )
    visitor = people()
    html = visitor.open(shop["page"]).text
    tiles = dict(re.findall(r'<dt class="small dim">([^<]+)</dt><dd>([^<]+)</dd>', html))
    assert (tiles["Received"], tiles["Attributed"], tiles["Not attributed"], tiles["Failed"]) == ("5", "1", "1", "1")
    assert "/dashboard/conversions/" in html
    assert re.search(r'data-l="Reason">Not attributed</td>', html)
    assert "nobody_referred" not in html

    failed = visitor.open(f"{shop['page']}?status=Failed").text
    (replay,) = re.findall(r'action="([^"]+/replay)"', failed)
    assert "an amount is not an integer" in failed
    answer = visitor.send(replay, {"_key": "k"})
    assert answer.status_code == 303
    assert "processed again" in visitor.open(answer.headers["Location"]).text


def test_connection_is_checked_and_reconciled(brand, people, shop):
    visitor = people()
    for verb in ("check", "reconcile"):
        assert visitor.send(f"{shop['page']}/{verb}", {"_key": verb}).status_code == 303
    assert brand.rows("select count(*) from job where name = 'gateway.reconcile'")[0][0] >= 1
    assert brand.rows("select last_checked_at is not null from gateway_connection") == [(True,)]


def test_credentials_are_replaced_only_by_working_ones(brand, people, shop):
    visitor = people()
    accepted = visitor.send(f"{shop['page']}/credentials", {"_key": "a", "apiKey": "", "webhookSecret": "whsec_new"})
    assert accepted.status_code == 303

    for typed in ({"apiKey": "sk_live_wrong"}, {"apiKey": " "}):
        refused = visitor.send(f"{shop['page']}/credentials", {"_key": str(typed), **typed})
        assert refused.status_code == 422
        assert 'role="alert"' in refused.text


def test_connection_errors_are_shown(people, brand, shop, stage):
    stage.is_authorized = lambda request: False
    visitor = people()
    visitor.send(f"{shop['page']}/check", {"_key": "k"})
    ((error,),) = brand.rows("select last_error from gateway_connection")
    assert error in html.unescape(visitor.open(shop["page"]).text)

    with db.unit_of_work(brand.id):
        db.db.run("update gateway_connection set status = 'Broken'")
    broken = visitor.open(shop["page"]).text
    assert "Stripe refuses the keys" in broken
    assert '<span class="chip bad">Broken</span>' in visitor.open(_HERE).text


def test_ended_connection_stays_in_the_list(brand, people, shop):
    visitor = people()
    assert visitor.send(f"{shop['page']}/disconnect", {"_key": "k"}).status_code == 303

    assert "Disconnected" in visitor.open(_HERE).text
    html = visitor.open(shop["page"]).text
    assert f'method="post" action="{shop["page"]}' not in html
    assert visitor.send(f"{shop['page']}/check", {"_key": "l"}).status_code == 404


def test_platform_is_connected_checked_switched_and_removed(brand, people):
    with play_platform() as platform:
        visitor = people()
        form = {"_key": "k", "slugField": "", **platform.credentials}
        assert visitor.send(f"{_HERE}/new/platform/kit", form).status_code == 303
        (address,) = set(re.findall(r'action="(/dashboard/connections/platforms/[^"]+)"', visitor.open(_HERE).text))
        for act, credits in (("off", False), ("on", True), ("checked", True)):
            assert visitor.send(address, {"_key": act, "act": act}).status_code == 303
            assert brand.rows("select credits_since is not null from platform_connection") == [(credits,)]
        assert visitor.send(address, {"_key": "x", "act": "dance"}).status_code == 404
        assert visitor.send(address, {"_key": "r", "act": "removed"}).status_code == 303
        assert brand.rows("select count(*) from platform_connection") == [(0,)]


def test_refusal_of_a_platform_is_shown(brand, people):
    with play_platform() as platform:
        wrong_credentials = dict.fromkeys(platform.credentials, "wrong")
        answer = people().send(f"{_HERE}/new/platform/kit", {"_key": "k", "slugField": "", **wrong_credentials})

        assert (answer.status_code, 'role="alert"' in answer.text) == (422, True)


@pytest.mark.parametrize("role", ["Viewer", "Manager"])
def test_member_without_permission_reads_connections_and_changes_nothing(brand, people, shop, role):
    with play_platform() as platform:
        connection = platform_connected(brand.person("Owner"), platform)
        visitor = people(role)
        for path in (_HERE, shop["page"], f"{_HERE}/new/gateway/stripe", f"{_HERE}/new/platform/kit"):
            html = visitor.open(path).text
            assert re.findall(r'<form method="post" action="([^"]+)"', html) == ["/theme", "/sign-out"], path
        assert shop["webhookUrl"] not in visitor.open(shop["page"]).text
        for path in (f"{shop['page']}/check", f"{shop['page']}/disconnect", f"{_HERE}/platforms/{connection['id']}"):
            assert visitor.send(path, {"_key": "k", "act": "removed"}).status_code == 403, path


def test_another_brands_connection_returns_404(people, rival, stage):
    rivals_connection = gateway_connections.connect_gateway(rival.person("Owner"), stage)
    visitor = people()
    for connection_id in (rivals_connection["id"], "none", "01900000-0000-7000-8000-000000000001"):
        assert visitor.open(f"{_HERE}/{connection_id}").status_code == 404
        for verb in ("check", "reconcile", "credentials", "disconnect"):
            assert visitor.send(f"{_HERE}/{connection_id}/{verb}", {"_key": "k", "apiKey": "a"}).status_code == 404
    for kind in ("gateway", "platform"):
        assert visitor.open(f"{_HERE}/new/{kind}/nothing").status_code == 404


@pytest.mark.parametrize("query", ["status=x", "cursor=x"])
def test_invalid_filter_shows_an_error(people, shop, query):
    answer = people().open(f"{shop['page']}?{query}")

    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)


def test_store_page_shows_the_web_pixel_status(brand, people):
    with gateway_connections.play_gateway("shopify") as store:
        page = f"{_HERE}/{gateway_connections.connect_gateway(brand.person('Owner'), store)['id']}"
        visitor = people()
        before = visitor.open(page).text
        store.pixels.has_extension = False
        drain()
        failed = visitor.open(page).text
        store.pixels.has_extension = True
        assert visitor.send(f"{page}/check", {"_key": "k"}).status_code == 303
        drain()
        after = visitor.open(page).text

    ((key,),) = brand.rows("select public_key from web_pixel")
    assert "being created in the store" in before
    assert "could not be created" in failed
    assert "integrations/shopify-pixel" in failed
    assert "counts visits in the store" in after
    assert f"Public key of its clicks: {key}" in after
