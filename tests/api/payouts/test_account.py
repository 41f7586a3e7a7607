"""Payout account of an affiliate: set by themselves, hidden from everyone else. Source: core spec, "Payout"."""

import json
import re
import threading
from uuid import uuid4

import pytest

from adapters.secret_key import sealing
from models import db
from models.payouts import candidates
from pipelines import mail
from tests.support.rows.brands import Partner
from tests.support.rows.payroll import Payroll

URL = "/api/me/payout-account"
WALLET = {"method": "Wallet", "walletEmail": "pay@ben.example.com"}
CONNECTED = {"method": "ProcessorConnect", "connectedAccountId": "acct_1Nv0FGQ9RKHgCVdK"}
RECIPIENT = {"method": "GlobalPayouts", "recipientId": "rcp_test-1"}
NOTHING = {"method": None, "walletEmail": None, "connectedAccountId": None, "recipientId": None, "changedAt": None}


@pytest.fixture
def email():
    """Return an email address unique to this test."""
    return f"ben-{uuid4().hex}@example.com"


@pytest.fixture
def ben(app, email):
    return Partner(app, email)


def _create_affiliate(brand, email):
    brand.program()
    return brand.affiliate("ben", email=email, email_normalized=email)


def _find_payee(brand, affiliate_id):
    with db.unit_of_work(brand.id):
        (payee,) = candidates.find_payees(organization_id=brand.id, affiliate_ids=[affiliate_id]).values()
    return payee.method, payee.destination


def _list_changes(brand):
    return brand.rows(
        "select actor_type, actor_label, entity_type, entity_id, before, after from audit_entry"
        " where action = 'payout_account.changed' order by created_at, id"
    )


def test_account_without_a_choice_is_null(ben):
    answer = ben.get(URL)

    assert (answer.status_code, answer.json) == (200, NOTHING)


@pytest.mark.parametrize("account", [WALLET, CONNECTED, RECIPIENT], ids=lambda account: account["method"])
def test_chosen_account_is_returned_and_paid(ben, brand, email, account):
    affiliate_id = _create_affiliate(brand, email)

    response = ben.put(URL, account)

    assert response.status_code == 200
    assert response.json == NOTHING | account | {"changedAt": response.json["changedAt"]}
    assert ben.get(URL).json == response.json
    assert _find_payee(brand, affiliate_id) == tuple(account.values())


def test_null_method_clears_the_account(ben):
    ben.put(URL, WALLET)

    assert ben.put(URL, {"method": None}).json == NOTHING
    assert ben.get(URL).json == NOTHING


def test_response_is_a_valid_request(ben):
    account = ben.put(URL, CONNECTED).json

    assert ben.put(URL, account).json == account


def test_wallet_address_is_trimmed_and_lower_cased(ben):
    assert ben.put(URL, {"method": "Wallet", "walletEmail": " Pay@Ben.Example.COM "}).json["walletEmail"] == (
        "pay@ben.example.com"
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "method"),
        ({"method": "Manual"}, "method"),
        ({"method": "Auto"}, "method"),
        ({"method": "wallet"}, "method"),
        ({"method": 1}, "method"),
        ({"method": ["Wallet"]}, "method"),
        ({"method": "Wallet"}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": None}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": ""}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": "nobody"}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": "a\x00@example.com"}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": "a@b.example.com\nBcc: x@example.com"}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": 7}, "walletEmail"),
        ({"method": "Wallet", "walletEmail": f"{'a' * 60}@{'b' * 60}.{'c' * 10}.com"}, "walletEmail"),
        (WALLET | {"connectedAccountId": "acct_1"}, "connectedAccountId"),
        ({"method": None, "walletEmail": "a@example.com"}, "walletEmail"),
        ({"method": "ProcessorConnect"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "acct_"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "ACCT_1"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "cus_1"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "acct_1\n"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "acct_1\x00"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "acct_é"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "acct_١"}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": "acct_" + "1" * 124}, "connectedAccountId"),
        ({"method": "ProcessorConnect", "connectedAccountId": 10**18}, "connectedAccountId"),
        ({"method": "GlobalPayouts", "recipientId": "../admin"}, "recipientId"),
        ({"method": "GlobalPayouts", "recipientId": "-1"}, "recipientId"),
        ({"method": "GlobalPayouts", "recipientId": "r" * 129}, "recipientId"),
    ],
)
def test_incomplete_account_is_refused_by_its_field(ben, body, field):
    answer = ben.put(URL, body)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert field in answer.json["errors"]
    assert ben.get(URL).json == NOTHING


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b'{"method":"Wallet","method":null}', b"\xff"])
def test_non_object_body_returns_400(ben, body):
    assert ben.put(URL, body).status_code == 400


def test_account_needs_a_verified_email(app, email):
    ben = Partner(app, email, is_email_verified=False)

    for answer in (ben.get(URL), ben.put(URL, WALLET)):
        assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")


def test_brand_cannot_access_the_account(brand):
    for caller in (brand, brand.person("Owner")):
        assert caller.get(URL).status_code == 401
        assert caller.call("PUT", URL, WALLET).status_code == 401


def test_audit_entry_of_each_brand_masks_the_account(ben, brand, rival, email):
    ids = [_create_affiliate(organization, email) for organization in (brand, rival)]
    ben.put(URL, WALLET)
    ben.put(URL, CONNECTED)

    wallet = {"method": "Wallet", "destination": "p...@b..."}
    connected = {"method": "ProcessorConnect", "destination": "...CVdK"}
    for organization, affiliate_id in zip((brand, rival), ids, strict=True):
        assert _list_changes(organization) == [
            ("affiliate", email, "payout_account", str(affiliate_id), None, wallet),
            ("affiliate", email, "payout_account", str(affiliate_id), wallet, connected),
        ]


def test_unchanged_account_is_not_audited(ben, brand, email):
    _create_affiliate(brand, email)
    first = ben.put(URL, WALLET).json

    assert ben.put(URL, WALLET).json == first
    assert len(_list_changes(brand)) == 1


def test_concurrent_changes_are_audited_in_sequence(ben, brand, email):
    _create_affiliate(brand, email)
    accounts = [{"method": "GlobalPayouts", "recipientId": f"recipient-{number}"} for number in range(6)]
    threads = [threading.Thread(target=ben.put, args=(URL, account)) for account in accounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    changes = [(before, after) for *_, before, after in _list_changes(brand)]
    assert len(changes) == 6
    # In any order, each change starts where another ended.
    starts = sorted(before["destination"] for before, _ in changes if before)
    ends = sorted(after["destination"] for _, after in changes)
    assert sum(before is None for before, _ in changes) == 1
    (last,) = set(ends) - set(starts)
    assert ben.get(URL).json["recipientId"].endswith(last[-4:])


def test_response_to_a_brand_hides_the_account(ben, brand, email):
    affiliate_id = _create_affiliate(brand, email)
    ben.put(URL, WALLET)
    owner = brand.person("Owner")
    brand.set(plan="Pro")

    for caller in (brand, owner):
        for path in (f"/api/v1/affiliates/{affiliate_id}", "/api/v1/affiliates", "/api/v1/audit-log"):
            answer = caller.get(path)
            assert answer.status_code == 200
            assert "pay@ben.example.com" not in answer.text


def test_affiliate_view_of_brands_has_no_account_fields(ben, brand, email):
    affiliate_id = _create_affiliate(brand, email)
    ben.put(URL, WALLET)
    keys = {
        "id", "programId", "email", "fullName", "status", "customCommissionType", "customCommissionValue",
        "partnerGroupId", "tags", "notes", "source", "rejectionReason", "isTest", "appliedAt", "approvedAt",
        "createdAt", "links",
    }  # fmt: skip

    by_key = brand.get(f"/api/v1/affiliates/{affiliate_id}").json
    by_person = brand.person("Owner").get(f"/api/v1/affiliates/{affiliate_id}").json

    assert set(by_key) == keys
    assert set(by_person) == keys | {"applicationData"}


def test_persons_account_precedes_operators_and_imported_ones(ben, brand, email):
    affiliate_id = _create_affiliate(brand, email)
    payees = [_find_payee(brand, affiliate_id)]
    brand.rows("update affiliate set wallet_email = 'import@example.com' where id = %s returning id", affiliate_id)
    payees.append(_find_payee(brand, affiliate_id))
    brand.rows(
        "update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_operator'"
        " where id = %s returning id",
        affiliate_id,
    )
    payees.append(_find_payee(brand, affiliate_id))
    ben.put(URL, RECIPIENT)
    payees.append(_find_payee(brand, affiliate_id))
    ben.put(URL, {"method": None})
    payees.append(_find_payee(brand, affiliate_id))

    assert payees == [
        (None, None),
        ("Wallet", "import@example.com"),
        ("ProcessorConnect", "acct_operator"),
        ("GlobalPayouts", "rcp_test-1"),
        ("ProcessorConnect", "acct_operator"),
    ]


def test_imported_wallet_is_paid(brand):
    program_id = brand.program()
    rows = [{"email": "ann@example.com", "walletEmail": "Wallet@Example.com"}]
    brand.post("/api/v1/affiliates/import", {"programId": str(program_id), "affiliates": rows})
    ((affiliate_id,),) = brand.rows("select id from affiliate where email = 'ann@example.com'")

    assert _find_payee(brand, affiliate_id) == ("Wallet", "wallet@example.com")


def test_payout_keeps_the_account_of_its_run(app, email):
    payroll = Payroll.create(app)
    ann = Partner(app, email)
    payroll.affiliates["ann"] = payroll.brand.affiliate(slug="ann", email=email, email_normalized=email)
    ann.put(URL, WALLET)
    payroll.sell("ann", 10_000)
    payroll.run()

    ann.put(URL, CONNECTED)
    payroll.pay()
    payroll.sell("ann", 10_000)
    payroll.run()

    assert payroll.payouts("method, destination, status") == [
        ("Wallet", "pay@ben.example.com", "Paid"),
        ("ProcessorConnect", CONNECTED["connectedAccountId"], "Pending"),
    ]


def test_retry_uses_the_current_account(app, email):
    from adapters import clock
    from pipelines.payouts import decisions

    payroll = Payroll.create(app, rail="fail")
    ann = Partner(app, email)
    payroll.affiliates["ann"] = payroll.brand.affiliate(slug="ann", email=email, email_normalized=email)
    ann.put(URL, WALLET)
    payroll.sell("ann", 10_000)
    payroll.run()
    payroll.pay()
    ((payout_id, status),) = payroll.payouts("id, status")

    ann.put(URL, CONNECTED)
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
        decisions.retry(payout, now=clock.now())

    assert status == "Failed"
    assert payroll.payouts("method, destination") == [("ProcessorConnect", CONNECTED["connectedAccountId"])]


def _list_emails(*brands):
    return [
        email_row
        for brand in brands
        for email_row in brand.rows("select recipient, subject from mail_message where kind = 'payout_account.changed'")
    ]


def test_email_about_a_change_names_the_method_in_words(ben, brand, email):
    _create_affiliate(brand, email)

    ben.put(URL, CONNECTED)

    ((number, sealed),) = brand.rows("select id, body_sealed from mail_message where kind = 'payout_account.changed'")
    text = json.loads(sealing.unseal(bytes(sealed), belongs_to=str(number)))["text"]
    assert "Your new payout account: Connected account, ..." in text
    assert re.search(r"was changed at \d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC\.", text)


def test_only_a_change_sends_an_email(ben, brand, rival, email):
    _create_affiliate(brand, email)
    _create_affiliate(rival, email)

    ben.put(URL, WALLET)
    assert _list_emails(brand, rival) == [(email, "Your payout account was changed")]
    ben.put(URL, WALLET)
    assert len(_list_emails(brand, rival)) == 1
    ben.put(URL, {"method": None})
    assert len(_list_emails(brand, rival)) == 2


def test_email_masks_the_account(ben, brand, email):
    _create_affiliate(brand, email)
    ben.put(URL, WALLET)
    ((message_id,),) = brand.rows("select id from mail_message")

    with db.any_org_work():
        text = mail.any_org_open(message_id).text
    assert "p...@b..." in text
    assert WALLET["walletEmail"] not in text
    assert "/sign-in?next=/portal/payout-account" in text


def test_person_without_affiliations_gets_no_email(ben, brand, email):
    assert ben.put(URL, WALLET).status_code == 200
    assert _list_emails(brand) == []
