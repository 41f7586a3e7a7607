"""FirstPromoter: promoters in campaigns, referrals that were moved, commissions of one unnamed currency."""

from datetime import datetime

import pytest

from adapters.switches.base import UnreadableRow
from commands.demo.played.sample import Sample
from domain.statuses import AffiliateStatus
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection


@pytest.fixture
def walk(start):
    return start("firstpromoter", currency="EUR")


@pytest.fixture
def promoter(walk):
    return dict(walk.account["promoters"][0])


def _read_one(walk, name, collection, **values):
    """Return the record of a copy of the account's first row of a collection, with other values."""
    walk.account[name].append({**walk.account[name][0], "id": 999, **values})
    walk.walk()
    return walk.record(collection, "999")


def _read_commission(walk, **values):
    return _read_one(walk, "commissions", Collection.Commissions, **values)


def _read_referral(walk, **values):
    return _read_one(walk, "referrals", Collection.Customers, **values)


def test_account_names_campaigns_and_their_parameters(walk):
    walk.account["campaigns"].update(1, ref_token_param="fp_ref")
    walk.account["campaigns"].append({"id": 3, "name": "Third", "ref_token_param": "fpr"})

    account = walk.read_account()

    assert account.reference == "acct-sample"
    assert [(campaign.source_id, campaign.name) for campaign in account.campaigns] == [
        ("3", "Third"),
        ("2", "Agencies"),
        ("1", "Partners"),
    ]
    assert account.campaigns[2].terms.cookie_window_days == 60
    assert account.campaigns[2].terms.commission_type is None
    assert account.parameters == ["fpr", "fp_ref"]


def test_both_key_and_account_are_needed(walk):
    request = walk.source.account_request(walk.context.credentials)

    for name in ("apiKey", "accountId"):
        assert walk.fetch(request, {**walk.context.credentials, name: "wrong"}).status_code == 401


def test_all_lists_bring_the_account(start):
    walk = start("firstpromoter", Sample(affiliates=130, customers=210, commissions=430)).walk()

    for collection, name in (
        (Collection.Codes, "promo_codes"),
        (Collection.Customers, "referrals"),
        (Collection.Commissions, "commissions"),
        (Collection.Payouts, "payouts"),
    ):
        assert {row.source_id for row in walk.rows_of(collection)} == {str(row["id"]) for row in walk.account[name]}
    memberships = [row["promoter_campaigns"][0] for row in walk.account["promoters"]]
    assert {row.source_id for row in walk.rows_of(Collection.Affiliates)} == {str(row["id"]) for row in memberships}
    assert {(record.affiliate.id, record.token) for record in walk.understand(Collection.Links)} == {
        (str(row["id"]), row["ref_token"]) for row in memberships
    }


def test_only_an_empty_page_is_the_last(start):
    walk = start("firstpromoter", Sample(affiliates=5, customers=100, commissions=10))

    walk.walk()

    pages = [request.value("page") for request in walk.server.requests("/referrals")]
    assert pages == ["1", "2"]
    assert len(walk.rows_of(Collection.Customers)) == 100


def test_a_promoter_is_an_affiliate_in_each_campaign(walk, promoter):
    membership = promoter["promoter_campaigns"][0]
    other = {**membership, "id": 8, "campaign_id": 2, "state": "blocked", "ref_token": "Other.One"}
    walk.account["promoters"].replace(0, {**promoter, "promoter_campaigns": [membership, other]})

    walk.walk()

    first = walk.record(Collection.Affiliates, str(membership["id"]))
    second = walk.record(Collection.Affiliates, "8")
    assert (first.campaign, first.status) == ("1", AffiliateStatus.Approved)
    assert (second.campaign, second.status) == ("2", AffiliateStatus.Banned)
    assert first.email == second.email == promoter["email"]
    assert first.full_name == second.full_name == "Anna Berg"
    assert walk.record(Collection.Links, "8").token == "Other.One"
    assert walk.record(Collection.Links, "8").affiliate == AffiliateRef("8")


def test_a_promoter_in_no_campaign_has_no_campaign_and_unknown_state(walk, promoter):
    walk.account["promoters"].append({**promoter, "id": 77, "promoter_campaigns": []})

    walk.walk()

    record = walk.record(Collection.Affiliates, "promoter-77")
    assert (record.campaign, record.status, record.email) == ("", None, promoter["email"])


def test_a_promoter_in_no_campaign_replaces_no_membership_of_the_same_number(walk, promoter):
    membership = promoter["promoter_campaigns"][0]["id"]
    other = {**promoter, "id": membership, "email": "other@example.com", "promoter_campaigns": []}
    walk.account["promoters"].append(other)

    walk.walk()

    assert walk.record(Collection.Affiliates, str(membership)).email == promoter["email"]
    assert walk.record(Collection.Affiliates, f"promoter-{membership}").email == "other@example.com"


@pytest.mark.parametrize(
    ("state", "archived_at", "status"),
    [
        ("accepted", None, AffiliateStatus.Approved),
        ("pending", None, AffiliateStatus.Pending),
        ("not_set", None, AffiliateStatus.Pending),
        ("rejected", None, AffiliateStatus.Rejected),
        ("inactive", None, AffiliateStatus.Paused),
        ("blocked", None, AffiliateStatus.Banned),
        ("accepted", "2026-01-01T00:00:00Z", AffiliateStatus.Paused),
        ("blocked", "2026-01-01T00:00:00Z", AffiliateStatus.Banned),
        ("rejected", "2026-01-01T00:00:00Z", AffiliateStatus.Rejected),
        ("asleep", None, None),
    ],
)
def test_states_of_promoters(walk, promoter, state, archived_at, status):
    membership = {**promoter["promoter_campaigns"][0], "id": 9, "state": state}
    walk.account["promoters"].append(
        {**promoter, "id": 77, "archived_at": archived_at, "promoter_campaigns": [membership]}
    )

    walk.walk()

    record = walk.record(Collection.Affiliates, "9")
    assert (record.status, record.word) == (status, state)


@pytest.mark.parametrize(
    ("link", "parameter"),
    [
        ("https://shop.example.com?fp_ref=tok", "fp_ref"),
        ("https://shop.example.com/tok", "fpr"),
        (None, "fpr"),
        ("https://[broken", "fpr"),
    ],
)
def test_the_parameter_of_a_link_is_that_of_its_address(walk, promoter, link, parameter):
    membership = {**promoter["promoter_campaigns"][0], "id": 9, "ref_token": "tok", "ref_link": link}
    walk.account["promoters"].append({**promoter, "id": 77, "promoter_campaigns": [membership]})

    walk.walk()

    assert walk.record(Collection.Links, "9").parameter == parameter


def test_a_recruited_promoter_is_marked(walk, promoter):
    membership = {**promoter["promoter_campaigns"][0], "id": 9}
    walk.account["promoters"].append(
        {**promoter, "id": 77, "parent_promoter_id": 5, "promoter_campaigns": [membership]}
    )

    walk.walk()

    assert walk.record(Collection.Affiliates, "9").has_recruiter
    assert not walk.record(Collection.Affiliates, str(promoter["promoter_campaigns"][0]["id"])).has_recruiter


def test_archived_promo_codes_are_marked(walk):
    code = _read_one(walk, "promo_codes", Collection.Codes, archived_at="2026-01-01T00:00:00Z")
    membership = walk.account["promoters"][0]["promoter_campaigns"][0]

    assert code.is_archived
    assert (code.code, code.affiliate.id) == ("SAVE0", str(membership["id"]))
    assert not walk.record(Collection.Codes, str(walk.account["promo_codes"][0]["id"])).is_archived


def test_stats_are_figures_of_a_promoter_in_one_campaign(walk, promoter):
    stats = {"referrals_count": 3, "customers_count": 2, "sales_count": 9, "revenue_amount": 12_345}
    membership = {**promoter["promoter_campaigns"][0], "id": 9}
    walk.account["promoters"].append({**promoter, "id": 77, "stats": stats, "promoter_campaigns": [membership]})
    two = [{**membership, "id": 10}, {**membership, "id": 11}]
    walk.account["promoters"].append({**promoter, "id": 78, "stats": stats, "promoter_campaigns": two})

    walk.walk()

    assert walk.figures["referrals", "9", ""] == 3
    assert walk.figures["paying_customers", "9", ""] == 2
    assert walk.figures["sales", "9", ""] == 9
    assert walk.figures["sale_amount", "9", ""] == 12_345
    assert not [key for key in walk.figures if key[1] in ("10", "11")]


def test_uid_is_a_claimed_id_only(walk):
    record = _read_referral(walk, uid="user-5", email="buyer@example.com", customer_since="2026-02-03T04:05:06Z")

    assert (record.billing_id, record.claimed_id, record.email) == (None, "user-5", "buyer@example.com")
    assert record.first_paid_at == datetime.fromisoformat("2026-02-03T04:05:06+00:00")
    assert record.affiliate.id == str(walk.account["referrals"][0]["promoter_campaign"]["id"])
    assert record.campaign == "1"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, None),
        ({"state": "cancelled"}, None),
        ({"state": "refunded"}, None),
        ({"state": "subscribed"}, None),
        ({"state": "moved"}, "moved_customer"),
        ({"email": "buyer@example.com (moved)"}, "moved_customer"),
        ({"is_expired": True}, "lead_expired"),
        ({"state": "denied"}, "lead_expired"),
        ({"state": "moved", "is_expired": True}, "moved_customer"),
    ],
    ids=str,
)
def test_referrals_that_are_left_out(walk, values, problem):
    assert _read_referral(walk, **values).problem == problem


def test_the_mark_of_a_moved_referral_is_not_part_of_the_email(walk):
    assert _read_referral(walk, email="buyer@example.com (moved)").email == "buyer@example.com"


def test_a_referral_without_a_promoter_names_no_affiliate(walk):
    assert _read_referral(walk, promoter_campaign=None).affiliate is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"status": "pending", "is_paid": False}, CommissionKind.Pending),
        ({"status": "pending", "is_paid": False, "fraud_check": None}, CommissionKind.Pending),
        ({"status": "pending", "is_paid": False, "fraud_check": "same_ip_suspicion"}, CommissionKind.Held),
        ({"status": "approved", "is_paid": False}, CommissionKind.Owed),
        ({"status": "approved", "is_paid": False, "fraud_check": "ad_source"}, CommissionKind.Owed),
        ({"status": "approved", "is_paid": True}, CommissionKind.Paid),
        ({"status": "denied", "is_paid": False}, CommissionKind.Denied),
        ({"status": "waiting", "is_paid": False}, None),
        ({"status": None, "is_paid": None}, None),
    ],
    ids=str,
)
def test_kinds_of_commissions(walk, values, kind):
    assert _read_commission(walk, **values).kind == kind


def test_a_commission_is_in_the_currency_that_the_brand_chose(walk):
    record = _read_commission(
        walk, amount=570, sale_amount=1900, original_sale_amount=2100, original_sale_currency="USD", event_id="ch_1"
    )

    row = walk.account["commissions"][0]
    assert (record.currency, record.commission_cents, record.amount_cents) == ("EUR", 570, 1900)
    assert (record.payment, record.charge_id) == ("ch_1", "ch_1")
    assert record.customer == str(row["referral"]["id"])
    assert (record.claimed_id, record.customer_email) == (row["referral"]["uid"], row["referral"]["email"])
    assert record.affiliate.id == str(row["promoter_campaign"]["id"])
    assert record.campaign == "1"
    assert record.occurred_at == datetime.fromisoformat(row["created_at"])


@pytest.mark.parametrize("unit", ["credits", "points", "free_months", "mon_discount", "discount_per"])
def test_other_units_are_no_money(walk, unit):
    assert _read_commission(walk, unit=unit).problem == "not_money"


@pytest.mark.parametrize("unit", ["cash", None])
def test_cash_is_money(walk, unit):
    assert _read_commission(walk, unit=unit).problem is None


def test_a_refund_stays_negative_and_names_the_event(walk):
    record = _read_commission(walk, amount=-570, sale_amount=-1900, event_id="ch_1")

    assert (record.commission_cents, record.amount_cents, record.payment) == (-570, -1900, "ch_1")


def test_a_custom_commission_has_no_customer(walk):
    record = _read_commission(walk, commission_type="custom", referral=None, sale_amount=None, event_id=None)

    assert (record.customer, record.claimed_id, record.amount_cents, record.payment) == (None, None, 0, None)
    assert not record.is_sale


def test_split_commissions_of_an_event_are_of_one_payment(walk):
    base = walk.account["commissions"][0]
    for number in (901, 902):
        walk.account["commissions"].append({**base, "id": number, "is_split": True, "event_id": "ch_split"})

    walk.walk()

    payments = {walk.record(Collection.Commissions, number).payment for number in ("901", "902")}
    assert payments == {"ch_split"}


def test_a_promoter_who_is_only_named_is_a_rejected_mention(walk):
    gone = {"id": 5, "campaign_id": 1, "promoter": {"id": 6, "email": "gone@example.com", "name": "Gone Girl"}}
    walk.account["commissions"].append({**walk.account["commissions"][0], "id": 999, "promoter_campaign": gone})

    walk.walk()

    [mention] = walk.mentions()
    record = walk.source.understand(mention, walk.context)
    assert (record.source_id, record.email, record.full_name) == ("5", "gone@example.com", "Gone Girl")
    assert (record.status, record.is_mention, record.campaign) == (AffiliateStatus.Rejected, True, "1")


@pytest.mark.parametrize(
    ("status", "is_done"),
    [("completed", True), ("pending", False), ("processing", False), ("failed", False), ("cancelled", False)],
)
def test_only_completed_payouts_are_done(walk, status, is_done):
    record = _read_one(walk, "payouts", Collection.Payouts, status=status)

    assert record.is_done is is_done
    assert (record.currency, record.cents) == ("EUR", walk.account["payouts"][0]["amount"])
    assert record.affiliate.email == walk.account["payouts"][0]["promoter"]["email"]


def test_a_code_without_text_is_unreadable(walk):
    with pytest.raises(UnreadableRow):
        _read_one(walk, "promo_codes", Collection.Codes, code=None)
