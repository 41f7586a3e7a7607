"""From a connected gateway to conversions."""

from tests.support.gateways.stage import Purchase


def test_a_payment_becomes_a_conversion_of_whom_it_names(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    assert shop.deliver(*sale.sent) == [200, 200]
    drain()

    assert shop.conversions("external_event_id, amount_cents, commission_cents, type, attribution_method, status") == [
        (sale.id, 10_890, 2_178, "OneTime", "metadata_or_customer", "Pending")
    ]
    assert shop.events() == [("invoice.paid", "Processed", None), ("invoice_payment.paid", "Processed", None)]


def test_whatever_comes_again_and_in_whatever_order_is_counted_once(shop, drain):
    first = shop.stage.pay(Purchase())
    again = shop.stage.pay(Purchase(renews=first))
    sent = [*first.sent, *again.sent]
    assert set(shop.deliver(*reversed(sent), *sent)) == {200}
    drain()
    assert set(shop.deliver(*sent)) == {200}
    drain()

    assert {row[0] for row in shop.conversions()} == {first.id, again.id}
    assert len(shop.conversions()) == 2
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_a_bad_proof_is_401_and_an_unknown_address_404_both_empty(shop):
    sale = shop.stage.pay(Purchase())
    assert shop.deliver(shop.stage.forged(sale.sent[0])) == [401]
    client = shop.brand.app.test_client()
    answer = client.post("/api/gateways/stripe/nobody", data=sale.sent[0].body, headers=dict(sale.sent[0].headers))
    assert (answer.status_code, answer.data) == (404, b"")
    assert shop.events() == []


def test_a_payment_that_names_nobody_is_kept_without_a_conversion(shop, drain):
    shop.deliver(*shop.stage.pay(Purchase(slug=None)).sent)
    drain()
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")


def test_a_later_payment_of_the_same_customer_is_credited_by_their_history(shop, drain):
    first = shop.stage.pay(Purchase())
    shop.deliver(*first.sent)
    drain()
    shop.deliver(*shop.stage.pay(Purchase(slug=None, renews=first)).sent)
    drain()
    assert shop.conversions("type, attribution_method") == [
        ("OneTime", "metadata_or_customer"),
        ("Recurring", "stripe_customer_history"),
    ]


def test_a_trial_is_a_lead_and_its_first_payment_converts_it(shop, drain):
    shop.deliver(*shop.stage.start_trial(Purchase(cents=0, customer="7", email="eve@example.com")))
    drain()
    shop.deliver(*shop.stage.pay(Purchase(slug=None, customer="7", email="eve@example.com")).sent)
    drain()
    assert shop.brand.rows("select method, state from lead") == [("lead_signup", "Converted")]
    assert shop.conversions("attribution_method") == [("metadata_or_customer",)]


def test_what_cannot_be_read_fails_once_and_is_a_dead_letter_with_its_bytes(shop, drain):
    shop.deliver(shop.stage.malformed())
    drain()
    assert shop.events("type, status, reason, raw is not null") == [("invoice.paid", "Failed", "unreadable", True)]
    assert shop.brand.rows("select name, last_error from job where failed_at is not null") == [
        ("gateway.event", "stripe invoice.paid: an amount is not an integer")
    ]


def test_signed_sales_are_refused_while_a_live_connection_is_active(shop):
    refused = shop.brand.sale(affiliateSlug="jane")
    assert (refused.status_code, refused.json["error"]) == (409, "stripe_connect_active")
    gone = shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    assert gone.status_code == 204
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200


def test_refunds_are_added_up_and_the_completing_one_ends_the_conversion(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*sale.sent, *shop.stage.refund(sale, 4_356))
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(4_356, 871, "Pending")]

    last = shop.stage.refund(sale, 6_534)
    shop.deliver(*last, *last)
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_890, 2_178, "Refunded")]


def test_a_refund_that_comes_before_its_sale_waits_for_it(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*shop.stage.refund(sale, 4_356))
    drain()
    assert shop.events() == [("charge.refunded", "Parked", "payment_unknown")]

    shop.deliver(*sale.sent)
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(4_356, 871, "Pending")]
    assert [status for (status,) in shop.events("status")] == ["Processed"] * 3


def test_the_inbox_is_listed_narrowed_counted_and_replayed(shop, drain):
    nobodys = shop.stage.pay(Purchase(slug=None, customer="9", email="zoe@example.com"))
    shop.deliver(*shop.stage.pay(Purchase()).sent, shop.stage.malformed(), *nobodys.sent)
    drain()
    path = f"/api/v1/connections/{shop.connection['id']}"
    listed = shop.brand.get(f"{path}/events?status=Failed").json["items"]
    assert [(each["type"], each["status"], each["error"]) for each in listed] == [
        ("invoice.paid", "Failed", "an amount is not an integer")
    ]
    assert len(shop.brand.get(f"{path}/events?take=2").json["items"]) == 2
    assert shop.brand.get(f"{path}/stats").json == {
        "received": 5,
        "credited": 1,
        "unreferred": 1,
        "refunds": 0,
        "failed": 1,
        "parked": 0,
    }
    again = shop.brand.person("Owner").post(f"{path}/events/{listed[0]['id']}/replay")
    assert (again.status_code, again.json["status"]) == (202, "Received")
    drain()
    assert shop.brand.get(f"{path}/events?status=Failed").json["items"][0]["id"] == listed[0]["id"]


def test_what_was_missed_is_taken_in_once_and_what_is_known_does_nothing(shop, drain):
    known = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*known.sent)
    drain()
    missed = shop.stage.pay(Purchase(cents=5_000, customer="2", email="bob@example.com"))
    shop.stage.refund(missed, 2_000)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    for _ in range(2):
        asked = shop.brand.person("Owner").post(path, {"since": "2020-01-01T00:00:00Z"})
        assert (asked.status_code, list(asked.json)) == (202, ["jobId"])
        drain()

    assert {row[:2] for row in shop.conversions("external_event_id, refunded_cents")} == {
        (known.id, 0),
        (missed.id, 2_000),
    }


def test_a_dispute_holds_the_conversion_and_winning_lets_it_go(shop, drain):
    sale = shop.stage.pay(Purchase())
    shop.deliver(*sale.sent, *shop.stage.dispute(sale, "opened"))
    drain()
    assert shop.conversions("disputed_at is not null, status") == [(True, "Pending")]
    (listed,) = shop.brand.get("/api/v1/conversions").json["items"]
    assert (listed["disputed"], listed["isTest"]) == (True, False)

    shop.deliver(*shop.stage.dispute(sale, "won"), *shop.stage.dispute(sale, "opened"))
    drain()
    assert shop.conversions("disputed_at is not null, status") == [(False, "Pending")]


def test_a_lost_dispute_is_a_refund_of_what_remains(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*sale.sent, *shop.stage.refund(sale, 4_356))
    drain()
    shop.deliver(*shop.stage.dispute(sale, "lost"))
    drain()
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_890, 2_178, "Refunded")]
    assert shop.brand.rows("select amount_cents, reason from refund order by cumulative_cents") == [
        (4_356, None),
        (6_534, "chargeback"),
    ]
