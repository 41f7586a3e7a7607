"""The data behind an embed token: the affiliate's own with this brand, without buyers or other brands."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.api.embed_tokens import call_embed_api, issue_token
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.rows.payroll import Payroll


@pytest.fixture
def viewer(app):
    """A viewer for Ann, who earned 20.00 USD by a sale of 100.00 USD at a brand that also has Bob."""
    payroll = Payroll.create(app)
    for slug in ("ann", "bob"):
        payroll.affiliate(slug)
    payroll.sell("ann", customerEmail="mira@customer.example", externalEventId=f"order-{uuid4().hex}")
    payroll.sell("bob", 90_000)
    return _Viewer(payroll, issue_token(payroll.brand, payroll.affiliates["ann"])["token"])


class _Viewer:
    def __init__(self, payroll, token):
        self.payroll, self.token = payroll, token

    def call(self, path, **options):
        return call_embed_api(self.payroll.brand.app, self.token, path, **options)

    def get(self, path):
        answer = self.call(path)
        assert answer.status_code == 200, answer.text
        return answer.json


def test_me_returns_affiliate_program_brand_links_and_balances(viewer):
    viewer.payroll.execute(
        "update organization set primary_brand_color = '#1a2b3c', min_payout_cents = 5000, min_payout_currency = 'USD'"
        " where id = %s",
        viewer.payroll.brand.id,
    )
    me = viewer.get("/me")

    assert me["affiliate"] == {"fullName": "Ann", "status": "Approved"}
    assert me["program"]["name"] == "Campaign"
    assert "20" in me["program"]["commission"]
    assert me["brand"] == {"name": "Brand", "primaryBrandColor": "#1a2b3c", "logoUrl": None}
    assert [(link["slug"], link["isDefault"]) for link in me["links"]] == [("ann", True)]
    assert me["links"][0]["url"].endswith("/ann")
    assert set(me["links"][0]) == {"id", "slug", "url", "isDefault"}
    assert me["balances"] == [
        {"currency": "USD", "onHoldCents": 0, "payableCents": 2000, "onItsWayCents": 0, "paidCents": 0}
    ]
    assert (me["minPayoutCents"], me["minPayoutCurrency"], me["hasPayoutAccount"]) == (5000, "USD", True)
    assert (me["linksLeft"], me["recruitingUrl"]) == (19, None)


def test_series_has_every_day_of_the_window(viewer):
    today = datetime.now(UTC).date()
    empty_day = {"clicks": 0, "leads": 0, "sales": 0, "earnedCents": {}}
    series = viewer.get("/me")["series"]

    assert len(series) == 30
    assert series[-1] == {"date": today.isoformat(), **empty_day, "sales": 1, "earnedCents": {"USD": 2000}}
    assert series[0] == {"date": (today - timedelta(days=29)).isoformat(), **empty_day}
    assert len(viewer.get("/me?days=90")["series"]) == 90
    assert viewer.get("/me/series?days=1") == series[-1:]
    assert [viewer.call(f"/me?days={days}").status_code for days in ("0", "91", "-1", "x", "1.5", "", "9" * 40)] == [
        400
    ] * 7


def test_conversions_exclude_buyer_data(viewer):
    page = viewer.get("/me/conversions")
    (conversion,) = page["items"]

    assert (page["hasMore"], page["nextCursor"]) == (False, None)
    assert set(conversion) == {
        "id",
        "type",
        "status",
        "state",
        "locked",
        "commissionCents",
        "currency",
        "occurredAt",
        "payableAt",
        "why",
    }
    assert (conversion["type"], conversion["state"], conversion["commissionCents"]) == ("OneTime", "Payable", 2000)
    assert "mira" not in viewer.call("/me/conversions").text
    assert "order-" not in viewer.call("/me/conversions").text


def test_cursor_of_another_affiliate_returns_400(viewer):
    for _ in range(2):
        viewer.payroll.sell("ann")
    first = viewer.get("/me/conversions?take=2")
    second = viewer.get(f"/me/conversions?cursor={first['nextCursor']}")
    bob = _Viewer(viewer.payroll, issue_token(viewer.payroll.brand, viewer.payroll.affiliates["bob"])["token"])

    assert (len(first["items"]), len(second["items"])) == (2, 1)
    assert len({row["id"] for row in first["items"] + second["items"]}) == 3
    assert bob.call(f"/me/conversions?cursor={first['nextCursor']}").status_code == 400
    assert [row["commissionCents"] for row in bob.get("/me/conversions")["items"]] == [18_000]


def test_payouts_return_amount_and_status(viewer):
    viewer.payroll.run()
    drain("payouts")
    (payout,) = viewer.get("/me/payouts")["items"]

    assert (payout["amountCents"], payout["currency"], payout["status"]) == (2000, "USD", "Paid")
    assert set(payout) == {"id", "amountCents", "currency", "status", "createdAt", "paidAt", "voidedAt"}
    assert viewer.get("/me")["balances"][0]["paidCents"] == 2000


def test_affiliate_of_two_brands_sees_only_the_brand_of_the_token(app, viewer):
    other = Payroll.create(app)
    email = f"rita-{uuid4().hex}@example.com"
    other.affiliates["rita"] = other.brand.affiliate("rita", email=email, email_normalized=email)
    affiliate_id = viewer.payroll.brand.affiliate("rita-here", email=email, email_normalized=email)
    other.sell("rita")
    rita = _Viewer(viewer.payroll, issue_token(viewer.payroll.brand, affiliate_id)["token"])

    me = rita.get("/me")
    assert ([link["slug"] for link in me["links"]], me["balances"]) == (["rita-here"], [])
    assert sum(day["sales"] for day in me["series"]) == 0
    assert (rita.get("/me/conversions")["items"], rita.get("/me/payouts")["items"]) == ([], [])
    assert me["hasPayoutAccount"] is False


def test_created_link_is_audited_with_the_embed_token(viewer):
    answer = viewer.call("/links", method="POST", body={"customAlias": "ann-tv"})

    assert (answer.status_code, answer.json["slug"], answer.json["isDefault"]) == (201, "ann-tv", False)
    assert [link["slug"] for link in viewer.get("/me")["links"]] == ["ann", "ann-tv"]
    assert viewer.get("/me")["linksLeft"] == 18
    ((actor, label),) = viewer.payroll.brand.rows(
        "select actor_type, actor_label from audit_entry where entity_id = %s", answer.json["id"]
    )
    assert actor == "affiliate"
    assert label.startswith("Embed token ")


def test_invalid_or_surplus_link_is_refused_as_in_the_portal(viewer):
    answers = {
        name: viewer.call("/links", method="POST", body={"customAlias": alias})
        for name, alias in {
            "bob's": "bob",
            "short": "ab",
            "capitals": "Ann",
            "reserved": "embed",
            "NUL": "a\x00bc",
        }.items()
    }
    assert {name: answer.status_code for name, answer in answers.items()} == {
        "bob's": 409,
        "short": 400,
        "capitals": 400,
        "reserved": 400,
        "NUL": 400,
    }
    assert [viewer.call("/links", method="POST", body={}).status_code for _ in range(20)] == [201] * 19 + [409]
    malformed = [viewer.call("/links", method="POST", body=[], Idempotency_Key="k").status_code for _ in range(2)]
    assert malformed == [400, 400]


def test_archived_program_creates_no_links(viewer):
    viewer.payroll.execute("update program set archived_at = now() where organization_id = %s", viewer.payroll.brand.id)
    refused = viewer.call("/links", method="POST", body={})

    assert (refused.status_code, refused.json["error"], viewer.get("/me")["linksLeft"]) == (404, "not_found", 0)


def test_repeated_link_request_with_an_idempotency_key_creates_one_link(viewer):
    first, again = (viewer.call("/links", method="POST", body={}, Idempotency_Key="one") for _ in range(2))

    assert (first.status_code, first.json) == (201, again.json)
    assert len(viewer.get("/me")["links"]) == 2


def test_me_round_trips_do_not_grow_with_data(viewer):
    trips = count_round_trips(lambda: viewer.get("/me"))
    for _ in range(3):
        viewer.payroll.sell("ann")
        viewer.call("/links", method="POST", body={})

    # 8 statements of its own and one for the caller, including begin and commit
    assert count_round_trips(lambda: viewer.get("/me")) == trips <= 10
