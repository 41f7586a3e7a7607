"""Confirmations sent by rails are applied once, in any order, and never undo a later status.

Source: tracking spec, section 6 (payout.paid, payout.failed); the rails' own documentation.
"""

import json

import pytest

from adapters.rails import registry
from models import db
from models.payouts import rail_events
from tests.adapters.rails import fake_processor as fake
from tests.adapters.rails import rail_setups
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.payroll import Payroll

_NAMES = {"ProcessorConnect": "processor", "Wallet": "wallet", "GlobalPayouts": "global-payouts"}


class RailTestbed:
    """A brand whose payouts are sent by one rail, and the simulated service behind it."""

    def __init__(self, app, setup):
        self.app, self.setup, self.service = app, setup, setup.service
        self.payroll = Payroll.create(app, rail=None)
        self.payroll.affiliate("ann", method=setup.method)
        self.url = f"/api/rails/{_NAMES[setup.method]}/events"

    def send(self, fault="500_after"):
        """Create a payout of 20.00 USD and send it to the rail, which fails with `fault`; return the payout's key."""
        self.payroll.sell("ann", 10_000)
        self.payroll.run()
        self.setup.misbehave(fault)
        self.payroll.pay()
        return self.key()

    def key(self, attempt=1):
        (payout_id,) = self.payroll.payouts("id")[-1]
        return f"payout:{payout_id}:{attempt}"

    def post(self, headers, body):
        return self.app.test_client().post(self.url, data=body, headers=headers)

    def confirm(self, key):
        return self.post(*self.service.event(key))

    def events(self):
        return [
            row[0]
            for row in self.payroll.brand.rows(
                "select type from event where type like 'payout.%%' order by created_at, id"
            )
        ]


def list_rail_events(testbed):
    with db.any_org_work():
        recent = rail_events.any_org_list(only_open=False, limit=50)
    return [event for event in recent if testbed.payroll.brand.id == event.organization_id]


@pytest.fixture
def service():
    processor = fake.FakeProcessor()
    yield processor
    processor.stop()


@pytest.fixture
def create_testbed(app, service, monkeypatch):
    """Return a function that creates a testbed for a method, with every rail configured and no stored events."""
    with db.any_org_work():
        db.db.run("delete from rail_event")
    setups_by_method = {method: rail_setups.over_http(service, method) for method in _NAMES}
    monkeypatch.setattr(
        registry, "_configured_rails", lambda: {name: setup.rail for name, setup in setups_by_method.items()}
    )
    return lambda method: RailTestbed(app, setups_by_method[method])


@pytest.fixture(params=_NAMES)
def testbed(request, create_testbed):
    return create_testbed(request.param)


@pytest.fixture
def wallet(create_testbed):
    return create_testbed("Wallet")


def wallet_event(key, event_id, status, **more):
    """Return the headers and the body of a signed wallet event with this status."""
    resource = {"payout_item": {"sender_item_id": key}, "payout_batch_id": "B1", "transaction_status": status} | more
    event = {"id": event_id, "event_type": "PAYMENT.PAYOUTS-ITEM.SOMETHING", "resource": resource}
    body = json.dumps(event).encode()
    names = ("AUTH-ALGO", "CERT-URL", "TRANSMISSION-ID", "TRANSMISSION-TIME")
    return {f"PAYPAL-{name}": "x" for name in names} | {
        "PAYPAL-TRANSMISSION-SIG": fake._wallet_signature(body)  # as the simulated service signs
    }, body


def test_confirmation_settles_a_payment_whose_response_was_lost(testbed):
    key = testbed.send()
    assert testbed.payroll.payouts() == [("Processing", 2_000)]

    answer = testbed.confirm(key)

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert testbed.payroll.payouts() == [("Paid", 2_000)]
    assert testbed.payroll.balance("ann") == {"USD": 0}
    assert testbed.events() == ["payout.created", "payout.paid"]
    assert [(event.outcome, event.payout_key) for event in list_rail_events(testbed)] == [("Settled", key)]


def test_confirmation_of_a_return_fails_the_payout(testbed):
    key = testbed.send()
    testbed.service.settle(key, "returned")

    assert testbed.confirm(key).status_code == 200

    assert testbed.payroll.payouts() == [("Failed", 2_000)]
    assert testbed.events() == ["payout.created", "payout.failed"]
    assert testbed.payroll.balance("ann") == {"USD": 2_000}


def test_concurrent_copies_settle_the_payout_once(testbed):
    key = testbed.send()

    answers = run_concurrently(*[lambda: testbed.confirm(key).status_code] * 5)

    assert answers == [200] * 5
    assert testbed.events() == ["payout.created", "payout.paid"]
    assert testbed.payroll.balance("ann") == {"USD": 0}
    assert len(list_rail_events(testbed)) == 1


def test_retried_job_does_not_settle_the_payout_again(testbed, drain):
    key = testbed.send()
    testbed.confirm(key)
    testbed.payroll.execute("update job set run_at = now() where name = 'payout.transfer'")

    drain("payouts")

    assert testbed.events() == ["payout.created", "payout.paid"]
    assert len(testbed.service.books) == 1


def test_confirmation_of_a_paid_payout_changes_nothing(testbed):
    testbed.payroll.sell("ann", 10_000)
    testbed.payroll.run()
    testbed.payroll.pay()
    testbed.payroll.execute("update job set run_at = now() where name = 'payout.transfer'")
    testbed.payroll.pay()
    payouts_before = testbed.payroll.payouts("status, amount_cents, paid_at")

    assert testbed.confirm(testbed.key()).status_code == 200

    assert testbed.payroll.payouts("status, amount_cents, paid_at") == payouts_before
    assert testbed.events() == ["payout.created", "payout.paid"]


def test_late_event_after_settlement_changes_nothing(wallet):
    key = wallet.send()
    wallet.confirm(key)

    assert wallet.post(*wallet_event(key, "WH-late", "PENDING")).status_code == 200

    assert wallet.payroll.payouts("status, wallet_batch_id") == wallet.payroll.brand.rows(
        "select 'Paid', wallet_batch_id from payout where wallet_batch_id <> 'B1'"
    )
    assert sorted(event.outcome for event in list_rail_events(wallet)) == ["Late", "Settled"]


def test_pending_event_is_noted(wallet):
    key = wallet.send()

    wallet.post(*wallet_event(key, "WH-step", "PENDING"))

    assert wallet.payroll.payouts("status, wallet_batch_id") == [("Processing", "B1")]
    assert [event.outcome for event in list_rail_events(wallet)] == ["Noted"]


def test_return_after_payment_is_stored_as_contradiction(wallet):
    key = wallet.send()
    wallet.confirm(key)

    assert wallet.post(*wallet_event(key, "WH-back", "RETURNED")).status_code == 200

    assert wallet.payroll.payouts("status") == [("Paid",)]
    assert sorted(event.outcome for event in list_rail_events(wallet)) == ["Contradicts", "Settled"]


def test_event_of_an_earlier_attempt_does_not_settle_the_current_one(wallet):
    first = wallet.send("reject")
    assert wallet.payroll.payouts("status") == [("Failed",)]
    wallet.payroll.brand.person("Owner").post(f"/api/v1/payouts/{first.split(':')[1]}/retry", {})
    wallet.setup.misbehave("500_before")
    wallet.payroll.pay()
    assert wallet.payroll.payouts("status, attempt") == [("Processing", 2)]

    wallet.post(*wallet_event(first, "WH-rejected-again", "FAILED"))
    wallet.post(*wallet_event(first, "WH-paid-after-all", "SUCCESS", transaction_id="T1"))

    assert wallet.payroll.payouts("status, attempt") == [("Processing", 2)]
    assert sorted((event.event_id, event.outcome) for event in list_rail_events(wallet)) == [
        ("WH-paid-after-all", "Contradicts"),
        ("WH-rejected-again", "Late"),
    ]


@pytest.mark.parametrize("verb", ["retry", "void"])
def test_payout_reported_paid_by_its_rail_cannot_be_retried_or_voided(wallet, verb):
    key = wallet.send("reject")
    payout_id = key.split(":")[1]
    wallet.post(*wallet_event(key, "WH-after-all", "SUCCESS", transaction_id="T1"))
    owner = wallet.payroll.brand.person("Owner")

    answer = owner.post(f"/api/v1/payouts/{payout_id}/{verb}", {})

    assert (answer.status_code, answer.json["error"]) == (409, "rail_says_paid")
    marked = owner.post(f"/api/v1/payouts/{payout_id}/mark-paid", {"externalTransactionId": "T1"})
    assert (marked.status_code, marked.json["status"]) == (200, "Paid")
    assert wallet.payroll.balance("ann") == {"USD": 0}
    assert [event.outcome for event in list_rail_events(wallet)] == ["Late"]


def test_voided_payout_paid_later_puts_the_next_run_under_review(wallet):
    key = wallet.send("reject")
    payout_id = key.split(":")[1]
    assert wallet.payroll.brand.person("Owner").post(f"/api/v1/payouts/{payout_id}/void", {}).status_code == 200
    wallet.post(*wallet_event(key, "WH-after-all", "SUCCESS", transaction_id="T1"))

    assert wallet.payroll.run().run.review_status == "Pending"
    wallet.payroll.pay()
    assert wallet.service.books == []

    arguments = ("payout", "settle", payout_id, "--failed", "the service reversed it", "--json")
    wallet.app.test_cli_runner().invoke(args=arguments)
    wallet.payroll.sell("ann", 10_000)
    assert wallet.payroll.run().run.review_status is None


def test_operator_settlement_allows_a_retry(wallet):
    key = wallet.send("reject")
    payout_id = key.split(":")[1]
    wallet.post(*wallet_event(key, "WH-after-all", "SUCCESS", transaction_id="T1"))

    arguments = ("payout", "settle", payout_id, "--failed", "the service reversed it", "--json")
    settled = wallet.app.test_cli_runner().invoke(args=arguments)

    assert json.loads(settled.stdout)["status"] == "Failed"
    owner = wallet.payroll.brand.person("Owner")
    assert owner.post(f"/api/v1/payouts/{payout_id}/retry", {}).status_code == 200
    assert wallet.payroll.payouts("status, attempt") == [("Pending", 2)]


def test_unsent_retry_waits_when_the_first_attempt_was_paid_later(wallet):
    key = wallet.send("reject")
    wallet.payroll.brand.person("Owner").post(f"/api/v1/payouts/{key.split(':')[1]}/retry", {})
    wallet.post(*wallet_event(key, "WH-after-all", "SUCCESS", transaction_id="T1"))

    wallet.payroll.pay()

    assert wallet.payroll.payouts("status, attempt") == [("Pending", 2)]
    assert wallet.service.books == []


def test_event_of_an_unknown_payout_is_parked(wallet):
    unknown = "payout:01a1ff9b-78a2-7906-abbf-be66b90e8f93:1"

    assert wallet.post(*wallet_event(unknown, "WH-nobodys", "SUCCESS", transaction_id="T1")).status_code == 200

    with db.any_org_work():
        (parked,) = [
            event for event in rail_events.any_org_list(only_open=True, limit=50) if event.event_id == "WH-nobodys"
        ]
    assert (parked.outcome, parked.organization_id, parked.payout_key) == ("Parked", None, unknown)


def test_rail_confirms_only_its_own_payments(create_testbed):
    processor, wallet = create_testbed("ProcessorConnect"), create_testbed("Wallet")
    key = processor.send()

    assert wallet.post(*wallet_event(key, f"WH-{key}", "SUCCESS", transaction_id="T1")).status_code == 200

    assert processor.payroll.payouts() == [("Processing", 2_000)]
    assert list_rail_events(processor) == []


def test_confirmation_of_one_tenant_leaves_others_unchanged(create_testbed):
    own, other = create_testbed("Wallet"), create_testbed("Wallet")
    key, _ = own.send(), other.send()

    own.confirm(key)

    assert own.payroll.payouts() == [("Paid", 2_000)]
    assert other.payroll.payouts() == [("Processing", 2_000)]


def test_invalid_signature_returns_400(testbed):
    key = testbed.send()
    headers, body = testbed.service.event(key)
    name = "PAYPAL-TRANSMISSION-SIG" if testbed.setup.method == "Wallet" else "Stripe-Signature"

    answers = [
        testbed.post({**headers, name: headers[name][:-1] + ("0" if headers[name][-1] != "0" else "1")}, body),
        testbed.post({}, body),
        testbed.post(headers, body + b" "),
        testbed.post(headers, b"\x00"),
        testbed.post(headers, b""),
    ]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [(400, "bad_signature")] * 5
    assert testbed.payroll.payouts() == [("Processing", 2_000)]
    assert list_rail_events(testbed) == []


def test_signed_event_of_another_kind_is_accepted(wallet):
    headers, body = wallet_event("ours", "WH-other", "SUCCESS")
    body = json.dumps({"id": "WH-other", "event_type": "BILLING.PLAN.CREATED", "resource": {}}).encode()
    headers["PAYPAL-TRANSMISSION-SIG"] = fake._wallet_signature(body)

    assert wallet.post(headers, body).status_code == 200
    assert list_rail_events(wallet) == []


def test_unreadable_payment_returns_503_until_it_can_be_read(create_testbed):
    testbed = create_testbed("GlobalPayouts")
    key = testbed.send()
    headers, body = testbed.service.event(key)
    books, testbed.service.books = testbed.service.books, []

    unreadable = testbed.post(headers, body)
    testbed.service.books = books

    assert (unreadable.status_code, unreadable.json["error"]) == (503, "rail_unavailable")
    assert testbed.post(headers, body).status_code == 200
    assert testbed.payroll.payouts() == [("Paid", 2_000)]


@pytest.mark.parametrize("rail", ["processor", "wallet", "global-payouts", "sandbox", "x", "%00"])
def test_unconfigured_rail_returns_404(app, rail):
    answer = app.test_client().post(f"/api/rails/{rail}/events", data=b"{}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
