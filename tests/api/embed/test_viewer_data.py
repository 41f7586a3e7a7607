"""What an affiliate sees by an embed token: what is theirs with this brand, nothing of buyers or other brands."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.api.embed_tokens import call_embed_api, issue_token
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.rows.payroll import Payroll


@pytest.fixture
def ann(app):
    """Ann at a brand where Bob is too, with a sale of 100.00 USD that earns 20.00, and what she is asked by."""
    payroll = Payroll.create(app)
    for slug in ("ann", "bob"):
        payroll.affiliate(slug)
    payroll.sell("ann", customerEmail="mira@customer.example", externalEventId=f"order-{uuid4().hex}")
    payroll.sell("bob", 90_000)
    return _Viewer(payroll, issue_token(payroll.brand, payroll.affiliates["ann"])["token"])


class _Viewer:
    def __init__(self, payroll, token):
        self.payroll, self.token = payroll, token

    def ask(self, path, **more):
        return call_embed_api(self.payroll.brand.app, self.token, path, **more)

    def get(self, path):
        answer = self.ask(path)
        assert answer.status_code == 200, answer.text
        return answer.json


def test_the_page_begins_with_who_where_what_and_how_much(ann):
    ann.payroll.execute(
        "update organization set primary_brand_color = '#1a2b3c', min_payout_cents = 5000, min_payout_currency = 'USD'"
        " where id = %s",
        ann.payroll.brand.id,
    )
    shown = ann.get("/me")

    assert shown["affiliate"] == {"fullName": "Ann", "status": "Approved"}
    assert shown["program"]["name"] == "Campaign"
    assert "20" in shown["program"]["commission"]
    assert shown["brand"] == {"name": "Brand", "primaryBrandColor": "#1a2b3c", "logoUrl": None}
    assert [(one["slug"], one["isDefault"]) for one in shown["links"]] == [("ann", True)]
    assert shown["links"][0]["url"].endswith("/ann")
    assert set(shown["links"][0]) == {"id", "slug", "url", "isDefault"}
    assert shown["balances"] == [
        {"currency": "USD", "onHoldCents": 0, "payableCents": 2000, "onItsWayCents": 0, "paidCents": 0}
    ]
    assert (shown["minPayoutCents"], shown["minPayoutCurrency"], shown["hasPayoutAccount"]) == (5000, "USD", True)
    assert (shown["linksLeft"], shown["recruitingUrl"]) == (19, None)


def test_every_one_of_the_last_days_is_there(ann):
    today = datetime.now(UTC).date()
    nothing = {"clicks": 0, "leads": 0, "sales": 0, "earnedCents": {}}
    series = ann.get("/me")["series"]

    assert len(series) == 30
    assert series[-1] == {"date": today.isoformat(), **nothing, "sales": 1, "earnedCents": {"USD": 2000}}
    assert series[0] == {"date": (today - timedelta(days=29)).isoformat(), **nothing}
    assert len(ann.get("/me?days=90")["series"]) == 90
    assert ann.get("/me/series?days=1") == series[-1:]
    assert [ann.ask(f"/me?days={days}").status_code for days in ("0", "91", "-1", "x", "1.5", "", "9" * 40)] == [
        400
    ] * 7


def test_conversions_say_nothing_of_who_bought(ann):
    page = ann.get("/me/conversions")
    (shown,) = page["items"]

    assert (page["hasMore"], page["nextCursor"]) == (False, None)
    assert set(shown) == {
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
    assert (shown["type"], shown["state"], shown["commissionCents"]) == ("OneTime", "Payable", 2000)
    assert "mira" not in ann.ask("/me/conversions").text
    assert "order-" not in ann.ask("/me/conversions").text


def test_lists_have_pages_whose_cursors_are_this_affiliates_alone(ann):
    for _ in range(2):
        ann.payroll.sell("ann")
    first = ann.get("/me/conversions?take=2")
    second = ann.get(f"/me/conversions?cursor={first['nextCursor']}")
    bob = _Viewer(ann.payroll, issue_token(ann.payroll.brand, ann.payroll.affiliates["bob"])["token"])

    assert (len(first["items"]), len(second["items"])) == (2, 1)
    assert len({one["id"] for one in first["items"] + second["items"]}) == 3
    assert bob.ask(f"/me/conversions?cursor={first['nextCursor']}").status_code == 400
    assert [one["commissionCents"] for one in bob.get("/me/conversions")["items"]] == [18_000]


def test_payouts_say_how_much_and_how_they_stand(ann):
    ann.payroll.run()
    drain("payouts")
    (shown,) = ann.get("/me/payouts")["items"]

    assert (shown["amountCents"], shown["currency"], shown["status"]) == (2000, "USD", "Paid")
    assert set(shown) == {"id", "amountCents", "currency", "status", "createdAt", "paidAt", "voidedAt"}
    assert ann.get("/me")["balances"][0]["paidCents"] == 2000


def test_a_person_of_two_brands_is_shown_the_one_alone(app, ann):
    other = Payroll.create(app)
    email = f"rita-{uuid4().hex}@example.com"
    other.affiliates["rita"] = other.brand.affiliate("rita", email=email, email_normalized=email)
    here = ann.payroll.brand.affiliate("rita-here", email=email, email_normalized=email)
    other.sell("rita")
    rita = _Viewer(ann.payroll, issue_token(ann.payroll.brand, here)["token"])

    shown = rita.get("/me")
    assert ([one["slug"] for one in shown["links"]], shown["balances"]) == (["rita-here"], [])
    assert sum(day["sales"] for day in shown["series"]) == 0
    assert (rita.get("/me/conversions")["items"], rita.get("/me/payouts")["items"]) == ([], [])
    assert shown["hasPayoutAccount"] is False


def test_a_link_is_added_and_the_log_says_by_what(ann):
    answer = ann.ask("/links", method="POST", body={"customAlias": "ann-tv"})

    assert (answer.status_code, answer.json["slug"], answer.json["isDefault"]) == (201, "ann-tv", False)
    assert [one["slug"] for one in ann.get("/me")["links"]] == ["ann", "ann-tv"]
    assert ann.get("/me")["linksLeft"] == 18
    ((actor, label),) = ann.payroll.brand.rows(
        "select actor_type, actor_label from audit_entry where entity_id = %s", answer.json["id"]
    )
    assert actor == "affiliate"
    assert label.startswith("Embed token ")


def test_a_link_is_refused_as_it_is_at_the_portal(ann):
    made = {
        name: ann.ask("/links", method="POST", body={"customAlias": alias})
        for name, alias in {
            "bob's": "bob",
            "short": "ab",
            "capitals": "Ann",
            "reserved": "embed",
            "NUL": "a\x00bc",
        }.items()
    }
    assert {name: one.status_code for name, one in made.items()} == {
        "bob's": 409,
        "short": 400,
        "capitals": 400,
        "reserved": 400,
        "NUL": 400,
    }
    assert [ann.ask("/links", method="POST", body={}).status_code for _ in range(20)] == [201] * 19 + [409]
    twice = [ann.ask("/links", method="POST", body=[], Idempotency_Key="k").status_code for _ in range(2)]
    assert twice == [400, 400]


def test_an_archived_program_gives_no_more_links_here_nor_at_the_portal(ann):
    ann.payroll.execute("update program set archived_at = now() where organization_id = %s", ann.payroll.brand.id)
    refused = ann.ask("/links", method="POST", body={})

    assert (refused.status_code, refused.json["error"], ann.get("/me")["linksLeft"]) == (404, "not_found", 0)


def test_a_repeated_request_for_a_link_makes_one(ann):
    first, again = (ann.ask("/links", method="POST", body={}, Idempotency_Key="one") for _ in range(2))

    assert (first.status_code, first.json) == (201, again.json)
    assert len(ann.get("/me")["links"]) == 2


def test_what_it_begins_with_costs_the_same_however_much_there_is(ann):
    few = count_round_trips(lambda: ann.get("/me"))
    for _ in range(3):
        ann.payroll.sell("ann")
        ann.ask("/links", method="POST", body={})

    # 8 statements of its own and one for who asks, begin and commit with them
    assert count_round_trips(lambda: ann.get("/me")) == few <= 10
