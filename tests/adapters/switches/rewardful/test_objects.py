"""Rewardful: what its objects mean, and lists that shrink while they are read."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from adapters.switches.base import UnreadableRow
from adapters.switches.objects import rewardful
from commands.demo.played import faults
from commands.demo.played.sample import Sample
from domain.statuses import AffiliateStatus
from domain.switches.records import CommissionKind
from domain.switches.sources import Collection


@pytest.fixture
def walk(start):
    return start("rewardful")


@pytest.fixture
def affiliate(walk):
    return dict(walk.account["affiliates"][0])


@pytest.fixture
def commission(walk):
    return dict(walk.account["commissions"][0])


def _read_one(walk, collection, row):
    """Return the record of a row that is added to the account."""
    name = {
        Collection.Affiliates: "affiliates",
        Collection.Codes: "affiliate_coupons",
        Collection.Customers: "referrals",
        Collection.Commissions: "commissions",
        Collection.Payouts: "payouts",
    }[collection]
    walk.account[name].append(row)
    walk.walk()
    return walk.record(collection, row["id"])


def test_account_is_named_by_the_site_of_its_oldest_campaign(walk):
    account = walk.read_account()

    assert account.name == "shop.example.com"
    assert [(campaign.name, campaign.affiliates) for campaign in account.campaigns] == [
        ("Agencies", 10),
        ("Partners", 10),
    ]
    terms = account.campaigns[1].terms
    assert (terms.commission_type, terms.commission_value) == ("Percentage", Decimal(30))
    assert (terms.cookie_window_days, terms.hold_days, terms.minimum_payout_cents) == (60, 30, 5000)
    assert (terms.recurring_months, terms.is_unlimited) == (None, True)
    assert (account.campaigns[0].terms.recurring_months, account.campaigns[0].terms.is_unlimited) == (12, False)


@pytest.mark.parametrize(
    ("months", "commissions", "expected"),
    [(None, 1, (0, False)), (12, 1, (0, False)), (None, 6, (None, False)), (12, 6, (12, False))],
)
def test_limit_of_commissions_is_a_term_only_where_the_first_alone_earns(walk, months, commissions, expected):
    walk.account["campaigns"].update(0, max_commission_period_months=months, max_commissions=commissions)

    terms = walk.read_account().campaigns[-1].terms

    assert (terms.recurring_months, terms.is_unlimited) == expected


def test_a_period_that_is_not_stated_is_not_unlimited():
    terms = rewardful.read_campaign({"id": "c1", "name": "Main"}).terms

    assert (terms.recurring_months, terms.is_unlimited) == (None, False)


def test_a_fixed_commission_is_in_major_units_of_its_currency(walk):
    walk.account["campaigns"].update(
        0,
        reward_type="amount",
        commission_percent=None,
        commission_amount_cents=1250,
        commission_amount_currency="eur",
    )
    account = walk.read_account()

    terms = account.campaigns[-1].terms
    assert (terms.commission_type, terms.commission_value, terms.commission_currency) == (
        "Fixed",
        Decimal("12.50"),
        "EUR",
    )


def test_all_lists_bring_the_account(start):
    walk = start("rewardful", Sample(affiliates=130, customers=210, commissions=430)).walk()

    for collection, name in (
        (Collection.Affiliates, "affiliates"),
        (Collection.Codes, "affiliate_coupons"),
        (Collection.Customers, "referrals"),
        (Collection.Commissions, "commissions"),
        (Collection.Payouts, "payouts"),
    ):
        assert {row.source_id for row in walk.rows_of(collection)} == {row["id"] for row in walk.account[name]}
        assert walk.figures[f"total_{collection.value}", "", ""] == len(walk.account[name])
    assert {(record.affiliate.id, record.token) for record in walk.understand(Collection.Links)} == {
        (row["id"], link["token"]) for row in walk.account["affiliates"] for link in row["links"]
    }


def test_sums_of_commissions_are_those_of_the_account(walk):
    walk.walk()

    paid: dict[str, int] = {}
    for record in walk.understand(Collection.Commissions):
        if record.kind == CommissionKind.Paid:
            paid[record.currency] = paid.get(record.currency, 0) + record.commission_cents
    payouts: dict[str, int] = {}
    for record in walk.understand(Collection.Payouts):
        assert record.is_done
        payouts[record.currency] = payouts.get(record.currency, 0) + record.cents
    assert set(paid) == {"USD", "EUR"}
    assert paid == payouts


def test_leads_and_conversions_of_an_affiliate_are_a_figure(walk):
    walk.account["affiliates"].update(0, leads=3, conversions=4)
    walk.account["affiliates"].update(1, leads=None)

    walk.walk()

    assert walk.figures["referrals", walk.account["affiliates"][0]["id"], ""] == 7
    assert ("referrals", walk.account["affiliates"][1]["id"], "") not in walk.figures


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("active", AffiliateStatus.Approved),
        ("disabled", AffiliateStatus.Paused),
        ("suspicious", AffiliateStatus.Banned),
        ("frozen", None),
        (None, None),
    ],
)
def test_states_of_affiliates(walk, affiliate, state, status):
    record = _read_one(walk, Collection.Affiliates, {**affiliate, "id": "new", "state": state})

    assert record.status == status
    assert record.word == (state or "")


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [("Ann", "Bell", "Ann Bell"), ("Ann", "Unknown", "Ann"), (None, "Bell", "Bell"), ("Unknown", "Unknown", "")],
)
def test_an_unknown_name_is_none(walk, affiliate, first, last, name):
    row = {**affiliate, "id": "new", "first_name": first, "last_name": last}

    assert _read_one(walk, Collection.Affiliates, row).full_name == name


def test_an_affiliate_has_campaign_wallet_and_group_with_its_rate(walk):
    walk.walk()

    record = walk.record(Collection.Affiliates, walk.account["affiliates"][0]["id"])
    assert record.campaign == walk.account["campaigns"][0]["id"]
    assert record.wallet_email == "paypal0@example.com"
    assert (record.group.name, record.group.type, record.group.value) == ("Partners", "Percentage", Decimal(30))
    assert record.created_at is not None
    assert record.created_at.tzinfo == UTC


def test_links_keep_their_order_and_spelling(walk, affiliate):
    links = [
        {"id": "l1", "url": "https://shop.example.com/?via=Anna.Bell", "token": "Anna.Bell"},
        {"id": "l2", "url": "https://shop.example.com/?via=a%20b", "token": "a%20b"},
    ]
    walk.account["affiliates"].append({**affiliate, "id": "new", "links": links})

    walk.walk()

    first, second = (walk.record(Collection.Links, name) for name in ("l1", "l2"))
    assert (first.token, first.place, first.parameter, first.affiliate.id) == ("Anna.Bell", 0, "via", "new")
    assert (second.token, second.place) == ("a b", 1)
    assert first.url == "https://shop.example.com/?via=Anna.Bell"


def test_a_link_without_a_token_is_unreadable(walk, affiliate):
    walk.account["affiliates"].append({**affiliate, "id": "new", "links": [{"id": "l1", "token": ""}]})
    walk.walk()

    with pytest.raises(UnreadableRow):
        walk.record(Collection.Links, "l1")


def test_an_affiliate_without_links_brings_none(walk, affiliate):
    record = _read_one(walk, Collection.Affiliates, {**affiliate, "id": "new", "links": None})

    assert record.source_id == "new"
    assert all(row.data["affiliate_id"] != "new" for row in walk.rows_of(Collection.Links))


@pytest.mark.parametrize(
    ("values", "is_archived"),
    [({"archived": False}, False), ({"archived": True}, True), ({"archived_at": "2026-01-01T00:00:00Z"}, True)],
)
def test_coupons(walk, values, is_archived):
    record = _read_one(walk, Collection.Codes, {"id": "c1", "token": "Save10", "affiliate_id": "a1", **values})

    assert (record.code, record.affiliate.id, record.is_archived) == ("Save10", "a1", is_archived)


def test_a_plan_without_coupons_has_none(walk):
    walk.server.faults.add(faults.respond(404, {"error": "Not found"}, path="/affiliate_coupons"))

    walk.walk()

    assert walk.rows_of(Collection.Codes) == []
    assert len(walk.rows_of(Collection.Commissions)) == 200


def test_a_referral_is_a_customer_with_their_billing_id(walk):
    walk.walk()

    row = walk.account["referrals"][0]
    record = walk.record(Collection.Customers, row["id"])
    assert record.billing_id == row["customer"]["id"]
    assert record.claimed_id is None
    assert record.email == "buyer0@customers.example.com"
    assert record.affiliate.id == row["affiliate"]["id"]
    assert record.first_paid_at == datetime.fromisoformat(row["became_conversion_at"])


@pytest.mark.parametrize(
    ("values", "billing_id", "name", "email"),
    [
        ({"customer": None, "stripe_customer_id": "cus_9"}, "cus_9", None, None),
        ({"customer": None, "stripe_customer_id": None}, None, None, None),
        ({"customer": {"id": "cus_9", "name": "cus_9", "email": "x@example.com"}}, "cus_9", None, "x@example.com"),
        ({"customer": {"id": "ctm_9", "name": "Ann", "platform": "paddle"}}, "ctm_9", "Ann", None),
    ],
    ids=["id beside no customer", "no customer", "id as name", "paddle"],
)
def test_names_of_customers(walk, values, billing_id, name, email):
    referral = {**walk.account["referrals"][0], "id": "new", **values}

    record = _read_one(walk, Collection.Customers, referral)

    assert (record.billing_id, record.name, record.email) == (billing_id, name, email)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, None),
        ({"deactivated_at": "2026-01-01T00:00:00Z"}, "lead_expired"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, None),
        ({"conversion_state": "visitor"}, "lead_expired"),
    ],
    ids=str,
)
def test_deactivated_referrals_are_left_out(walk, values, problem):
    referral = {**walk.account["referrals"][0], "id": "new", **values}

    assert _read_one(walk, Collection.Customers, referral).problem == problem


def test_a_referral_without_an_affiliate_names_none(walk):
    referral = {**walk.account["referrals"][0], "id": "new", "affiliate": None}

    assert _read_one(walk, Collection.Customers, referral).affiliate is None


def test_only_paid_payouts_are_done(walk):
    row = walk.account["payouts"][0]

    record = _read_one(walk, Collection.Payouts, {**row, "id": "new", "state": "processing"})

    assert not record.is_done
    assert (record.cents, record.currency) == (row["amount"], row["currency"])
    assert record.affiliate.id == row["affiliate"]["id"]


def test_stepping_back_after_deleted_rows_misses_no_remaining_row(start):
    walk = start("rewardful", Sample(affiliates=2, customers=10, commissions=450, campaigns=1))
    walked = next(item for item in walk.source.lists(walk.context) if item.name == "commissions")
    present = {row["id"] for row in walk.account["commissions"]}
    first = walk.read(walked, None)
    second = walk.read(walked, first.cursor)

    # 130 of the newest are refunded in full and go, so that later pages move by more than one page.
    for _ in range(130):
        present.discard(walk.account["commissions"].delete(-1)["id"])
    third = walk.read(walked, second.cursor)
    assert second.total - third.total == 130
    cursor = walk.source.step_back(walked, second.cursor, 2)
    while cursor is not None or third is not None:
        page = walk.read(walked, cursor)
        cursor, third = page.cursor, None

    assert present <= {row.source_id for row in walk.rows_of(Collection.Commissions)}


def test_step_back_ends_at_the_first_page(walk):
    walked = walk.source.lists(walk.context)[0]

    assert walk.source.step_back(walked, {"page": 5}, 2) == {"page": 3}
    assert walk.source.step_back(walked, {"page": 2}, 7) is None
