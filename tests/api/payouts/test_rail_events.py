"""What rails confirm by themselves: each once, in any order, never backwards.

Source: tracking spec, section 6 (payout.paid, payout.failed); the rails' own documentation.
"""

import json

import pytest

from adapters.rails import registry
from models import db
from models.payouts import rail_events
from tests.adapters.rails import fake_processor as fake
from tests.adapters.rails import places
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.payroll import Payroll

_NAMES = {"ProcessorConnect": "processor", "Wallet": "wallet", "GlobalPayouts": "global-payouts"}


class Ground:
    """A brand whose payouts leave by one rail, and the service behind it."""

    def __init__(self, app, place):
        self.app, self.place, self.service = app, place, place.service
        self.payroll = Payroll.create(app, rail=None)
        self.payroll.affiliate("ann", method=place.method)
        self.url = f"/api/rails/{_NAMES[place.method]}/events"

    def send(self, fault="500_after"):
        """Sell for 20.00 USD of commission and let the rail be asked, which goes wrong; returns the payout's key."""
        self.payroll.sell("ann", 10_000)
        self.payroll.run()
        self.place.misbehave(fault)
        self.payroll.pay()
        return self.key()

    def key(self, attempt=1):
        (payout_id,) = self.payroll.payouts("id")[-1]
        return f"payout:{payout_id}:{attempt}"

    def post(self, headers, body):
        return self.app.test_client().post(self.url, data=body, headers=headers)

    def tell(self, key):
        return self.post(*self.service.event(key))

    def events(self):
        return [
            row[0]
            for row in self.payroll.brand.rows(
                "select type from event where type like 'payout.%%' order by created_at, id"
            )
        ]


def told(ground):
    with db.any_org_work():
        found = rail_events.any_org_list(only_open=False, limit=50)
    return [one for one in found if ground.payroll.brand.id == one.organization_id]


@pytest.fixture
def service():
    started = fake.FakeProcessor()
    yield started
    started.stop()


@pytest.fixture
def ground_of(app, service, monkeypatch):
    """Make a ground for a method; every rail is configured. Each test's service counts its events from one again."""
    with db.any_org_work():
        db.db.run("delete from rail_event")
    found = {method: places.over_http(service, method) for method in _NAMES}
    monkeypatch.setattr(registry, "_of_this_process", lambda: {name: place.rail for name, place in found.items()})
    return lambda method: Ground(app, found[method])


@pytest.fixture(params=_NAMES)
def ground(request, ground_of):
    return ground_of(request.param)


@pytest.fixture
def wallet(ground_of):
    return ground_of("Wallet")


def item(key, event_id, status, **more):
    """Return a signed event of the wallet's, of any content."""
    resource = {"payout_item": {"sender_item_id": key}, "payout_batch_id": "B1", "transaction_status": status} | more
    event = {"id": event_id, "event_type": "PAYMENT.PAYOUTS-ITEM.SOMETHING", "resource": resource}
    body = json.dumps(event).encode()
    names = ("AUTH-ALGO", "CERT-URL", "TRANSMISSION-ID", "TRANSMISSION-TIME")
    return {f"PAYPAL-{name}": "x" for name in names} | {
        "PAYPAL-TRANSMISSION-SIG": fake._wallet_signature(body)  # what the service itself signs with
    }, body


def test_a_confirmation_settles_a_payment_whose_answer_was_lost(ground):
    key = ground.send()
    assert ground.payroll.payouts() == [("Processing", 2_000)]

    answer = ground.tell(key)

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert ground.payroll.payouts() == [("Paid", 2_000)]
    assert ground.payroll.balance("ann") == {"USD": 0}
    assert ground.events() == ["payout.created", "payout.paid"]
    assert [(one.outcome, one.payout_key) for one in told(ground)] == [("Settled", key)]


def test_a_confirmation_of_what_came_back_fails_the_payout(ground):
    key = ground.send()
    ground.service.settle(key, "returned")

    assert ground.tell(key).status_code == 200

    assert ground.payroll.payouts() == [("Failed", 2_000)]
    assert ground.events() == ["payout.created", "payout.failed"]
    assert ground.payroll.balance("ann") == {"USD": 2_000}


def test_five_copies_at_once_settle_it_once(ground):
    key = ground.send()

    answers = run_concurrently(*[lambda: ground.tell(key).status_code] * 5)

    assert answers == [200] * 5
    assert ground.events() == ["payout.created", "payout.paid"]
    assert ground.payroll.balance("ann") == {"USD": 0}
    assert len(told(ground)) == 1


def test_the_job_that_asks_again_finds_it_settled(ground, drain):
    key = ground.send()
    ground.tell(key)
    ground.payroll.execute("update job set run_at = now() where name = 'payout.transfer'")

    drain("payouts")

    assert ground.events() == ["payout.created", "payout.paid"]
    assert len(ground.service.books) == 1


def test_a_confirmation_of_what_we_know_is_paid_changes_nothing(ground):
    ground.payroll.sell("ann", 10_000)
    ground.payroll.run()
    ground.payroll.pay()
    ground.payroll.execute("update job set run_at = now() where name = 'payout.transfer'")
    ground.payroll.pay()
    before = ground.payroll.payouts("status, amount_cents, paid_at")

    assert ground.tell(ground.key()).status_code == 200

    assert ground.payroll.payouts("status, amount_cents, paid_at") == before
    assert ground.events() == ["payout.created", "payout.paid"]


def test_a_step_that_is_told_after_the_end_changes_nothing(wallet):
    key = wallet.send()
    wallet.tell(key)

    assert wallet.post(*item(key, "WH-late", "PENDING")).status_code == 200

    assert wallet.payroll.payouts("status, wallet_batch_id") == wallet.payroll.brand.rows(
        "select 'Paid', wallet_batch_id from payout where wallet_batch_id <> 'B1'"
    )
    assert sorted(one.outcome for one in told(wallet)) == ["Late", "Settled"]


def test_a_step_on_the_way_is_noted(wallet):
    key = wallet.send()

    wallet.post(*item(key, "WH-step", "PENDING"))

    assert wallet.payroll.payouts("status, wallet_batch_id") == [("Processing", "B1")]
    assert [one.outcome for one in told(wallet)] == ["Noted"]


def test_what_comes_back_after_it_was_paid_is_the_operators_to_see(wallet):
    key = wallet.send()
    wallet.tell(key)

    assert wallet.post(*item(key, "WH-back", "RETURNED")).status_code == 200

    assert wallet.payroll.payouts("status") == [("Paid",)]
    assert sorted(one.outcome for one in told(wallet)) == ["Contradicts", "Settled"]


def test_an_attempt_that_is_over_does_not_settle_the_present_one(wallet):
    first = wallet.send("reject")
    assert wallet.payroll.payouts("status") == [("Failed",)]
    wallet.payroll.brand.person("Owner").post(f"/api/v1/payouts/{first.split(':')[1]}/retry", {})
    wallet.place.misbehave("500_before")
    wallet.payroll.pay()
    assert wallet.payroll.payouts("status, attempt") == [("Processing", 2)]

    wallet.post(*item(first, "WH-rejected-again", "FAILED"))
    wallet.post(*item(first, "WH-paid-after-all", "SUCCESS", transaction_id="T1"))

    assert wallet.payroll.payouts("status, attempt") == [("Processing", 2)]
    assert sorted((one.event_id, one.outcome) for one in told(wallet)) == [
        ("WH-paid-after-all", "Contradicts"),
        ("WH-rejected-again", "Late"),
    ]


@pytest.mark.parametrize("verb", ["retry", "void"])
def test_what_a_rail_says_it_paid_after_all_is_not_freed_to_be_paid_again(wallet, verb):
    key = wallet.send("reject")
    payout_id = key.split(":")[1]
    wallet.post(*item(key, "WH-after-all", "SUCCESS", transaction_id="T1"))
    owner = wallet.payroll.brand.person("Owner")

    answer = owner.post(f"/api/v1/payouts/{payout_id}/{verb}", {})

    assert (answer.status_code, answer.json["error"]) == (409, "rail_says_paid")
    marked = owner.post(f"/api/v1/payouts/{payout_id}/mark-paid", {"externalTransactionId": "T1"})
    assert (marked.status_code, marked.json["status"]) == (200, "Paid")
    assert wallet.payroll.balance("ann") == {"USD": 0}
    assert [one.outcome for one in told(wallet)] == ["Late"]


def test_what_was_let_go_and_paid_after_all_parks_the_next_run_until_an_operator_has_looked(wallet):
    key = wallet.send("reject")
    payout_id = key.split(":")[1]
    assert wallet.payroll.brand.person("Owner").post(f"/api/v1/payouts/{payout_id}/void", {}).status_code == 200
    wallet.post(*item(key, "WH-after-all", "SUCCESS", transaction_id="T1"))

    assert wallet.payroll.run().run.review_status == "Pending"
    wallet.payroll.pay()
    assert wallet.service.books == []

    words = ("payout", "settle", payout_id, "--failed", "the service reversed it", "--json")
    wallet.app.test_cli_runner().invoke(args=words)
    wallet.payroll.sell("ann", 10_000)
    assert wallet.payroll.run().run.review_status is None


def test_an_operator_who_has_looked_lets_it_be_retried(wallet):
    key = wallet.send("reject")
    payout_id = key.split(":")[1]
    wallet.post(*item(key, "WH-after-all", "SUCCESS", transaction_id="T1"))

    words = ("payout", "settle", payout_id, "--failed", "the service reversed it", "--json")
    settled = wallet.app.test_cli_runner().invoke(args=words)

    assert json.loads(settled.stdout)["status"] == "Failed"
    owner = wallet.payroll.brand.person("Owner")
    assert owner.post(f"/api/v1/payouts/{payout_id}/retry", {}).status_code == 200
    assert wallet.payroll.payouts("status, attempt") == [("Pending", 2)]


def test_a_retry_that_was_not_sent_yet_waits_when_the_first_attempt_was_paid_after_all(wallet):
    key = wallet.send("reject")
    wallet.payroll.brand.person("Owner").post(f"/api/v1/payouts/{key.split(':')[1]}/retry", {})
    wallet.post(*item(key, "WH-after-all", "SUCCESS", transaction_id="T1"))

    wallet.payroll.pay()

    assert wallet.payroll.payouts("status, attempt") == [("Pending", 2)]
    assert wallet.service.books == []


def test_what_is_about_nothing_that_we_know_is_taken_and_parked(wallet):
    unknown = "payout:01a1ff9b-78a2-7906-abbf-be66b90e8f93:1"

    assert wallet.post(*item(unknown, "WH-nobodys", "SUCCESS", transaction_id="T1")).status_code == 200

    with db.any_org_work():
        (parked,) = [one for one in rail_events.any_org_list(only_open=True, limit=50) if one.event_id == "WH-nobodys"]
    assert (parked.outcome, parked.organization_id, parked.payout_key) == ("Parked", None, unknown)


def test_a_rail_speaks_for_its_own_payments_alone(ground_of):
    processor, wallet = ground_of("ProcessorConnect"), ground_of("Wallet")
    key = processor.send()

    assert wallet.post(*item(key, f"WH-{key}", "SUCCESS", transaction_id="T1")).status_code == 200

    assert processor.payroll.payouts() == [("Processing", 2_000)]
    assert told(processor) == []


def test_one_tenants_confirmation_leaves_the_others_alone(ground_of):
    mine, theirs = ground_of("Wallet"), ground_of("Wallet")
    key, _ = mine.send(), theirs.send()

    mine.tell(key)

    assert mine.payroll.payouts() == [("Paid", 2_000)]
    assert theirs.payroll.payouts() == [("Processing", 2_000)]


def test_a_signature_that_does_not_hold_is_refused(ground):
    key = ground.send()
    headers, body = ground.service.event(key)
    name = "PAYPAL-TRANSMISSION-SIG" if ground.place.method == "Wallet" else "Stripe-Signature"

    answers = [
        ground.post({**headers, name: headers[name][:-1] + ("0" if headers[name][-1] != "0" else "1")}, body),
        ground.post({}, body),
        ground.post(headers, body + b" "),
        ground.post(headers, b"\x00"),
        ground.post(headers, b""),
    ]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [(400, "bad_signature")] * 5
    assert ground.payroll.payouts() == [("Processing", 2_000)]
    assert told(ground) == []


def test_what_the_rail_signs_about_something_else_is_taken(wallet):
    headers, body = item("ours", "WH-other", "SUCCESS")
    body = json.dumps({"id": "WH-other", "event_type": "BILLING.PLAN.CREATED", "resource": {}}).encode()
    headers["PAYPAL-TRANSMISSION-SIG"] = fake._wallet_signature(body)

    assert wallet.post(headers, body).status_code == 200
    assert told(wallet) == []


def test_a_payment_that_cannot_be_read_now_is_to_be_told_again(ground_of):
    ground = ground_of("GlobalPayouts")
    key = ground.send()
    headers, body = ground.service.event(key)
    kept, ground.service.books = ground.service.books, []

    later = ground.post(headers, body)
    ground.service.books = kept

    assert (later.status_code, later.json["error"]) == (503, "rail_unavailable")
    assert ground.post(headers, body).status_code == 200
    assert ground.payroll.payouts() == [("Paid", 2_000)]


@pytest.mark.parametrize("rail", ["processor", "wallet", "global-payouts", "sandbox", "x", "%00"])
def test_a_rail_that_is_not_configured_is_not_there(app, rail):
    answer = app.test_client().post(f"/api/rails/{rail}/events", data=b"{}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
