"""PartnerStack: statuses by list, links per partnership, scheduled rewards, and what its objects mean."""

import base64
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.switches.base import SourceResponse, SourceRow, UnreadablePage, UnreadableRow
from commands.demo.played.partnerstack import PlayedPartnerStack
from commands.demo.played.sample import Sample
from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection
from tests.support.switches.walking import Walk


@pytest.fixture
def walk(start):
    return start("partnerstack")


def _list(walk: Walk, name: str):
    return next(walked for walked in walk.source.lists(walk.context) if walked.name == name)


def _reward(**values):
    return {
        "key": "reward_1",
        "amount": 1_000,
        "currency": "USD",
        "reward_status": "approved",
        "customer": {"email": "buyer@example.com", "external_key": "user-1"},
        "transaction": {"key": "tran_1", "amount": 5_000, "currency": "USD"},
        "partnership": {"key": "part_1", "email": "ann@example.com"},
        "created_at": 1_767_225_600_000,
    } | values


def _understand(walk: Walk, collection: Collection, data, *, is_mention=False):
    row = SourceRow(collection, data.get("key") or "content-1", data, is_mention)
    return walk.source.understand(row, walk.context)


def test_the_account_is_known_by_the_end_of_its_public_key(walk):
    account = walk.read_account()

    assert (account.name, account.reference) == ("PartnerStack", "…ayed")
    assert [campaign.source_id for campaign in account.campaigns] == ["all"]


def test_all_lists_bring_the_account(start):
    walk = start("partnerstack", Sample(affiliates=260, customers=510, commissions=800)).walk()

    for collection, names in (
        (Collection.Affiliates, ["partnerships"]),
        (Collection.Customers, ["customers"]),
        (Collection.Commissions, ["rewards", "scheduled"]),
    ):
        keys = [row["key"] for name in names for row in walk.account[name]]
        assert {row.source_id for row in walk.rows_of(collection)} == set(keys)
    assert {row["key"] for row in walk.account["links"]} <= {row.source_id for row in walk.rows_of(Collection.Links)}
    assert [len(walk.account[name]) for name in ("rewards", "scheduled")] == [784, 16]


@pytest.mark.parametrize("customers", [1, 249, 250, 251, 500])
def test_no_customer_is_lost_where_pages_end(start, customers):
    walk = start("partnerstack", Sample(affiliates=3, customers=customers, commissions=1))

    walk.walk_list(_list(walk, "customers"))

    assert len(walk.rows_of(Collection.Customers)) == customers
    assert len(walk.server.requests("/customers")) == (customers + 249) // 250


@pytest.mark.parametrize("customers", [249, 250, 251, 500])
def test_pages_that_are_a_bare_list_are_read_to_their_end(start, customers):
    walk = start("partnerstack", Sample(affiliates=3, customers=customers, commissions=1))
    walk.account.facts["is_bare"] = True

    walk.walk_list(_list(walk, "customers"))

    assert len(walk.rows_of(Collection.Customers)) == customers


@pytest.mark.parametrize(
    ("status", "is_archived", "expected"),
    [
        ("approved", False, AffiliateStatus.Approved),
        ("pending", False, AffiliateStatus.Pending),
        ("declined", False, AffiliateStatus.Rejected),
        ("approved", True, AffiliateStatus.Paused),
        ("unheard_of", False, None),
    ],
)
def test_the_lists_tell_the_status(walk, status, is_archived, expected):
    walk.account["partnerships"].update(0, _status=status, _archived=is_archived)

    walk.walk()

    assert walk.record(Collection.Affiliates, "part_000000").status == expected


def test_server_that_ignores_undocumented_filters_changes_no_approved_partnership(walk, monkeypatch):
    for place, status in enumerate(["approved", "pending", "declined"]):
        walk.account["partnerships"].update(place, _status=status, _archived=False)
    documented = PlayedPartnerStack.list_partnerships

    def list_partnerships(self, request):
        if request.value("approved_status") == "approved":
            return documented(self, request)
        query = {name: value for name, value in request.query.items() if name != "approved_status"}
        return documented(self, replace(request, query=query))

    monkeypatch.setattr(PlayedPartnerStack, "list_partnerships", list_partnerships)
    walk.walk()

    statuses = [walk.record(Collection.Affiliates, f"part_{place:06d}").status for place in range(3)]
    assert statuses == [AffiliateStatus.Approved, AffiliateStatus.Pending, AffiliateStatus.Pending]


def test_an_archived_partnership_says_so_itself(walk):
    record = _understand(walk, Collection.Affiliates, {"key": "part_1", "archived": True, "listed_as": "approved"})

    assert record.status == AffiliateStatus.Paused


def test_tokens_are_the_partner_key_and_its_base64_before_the_paths_of_links(walk):
    walk.walk()

    links = [record for record in walk.understand(Collection.Links) if record.affiliate.id == "part_000000"]
    links.sort(key=lambda record: (record.place, record.source_id))
    assert [record.token for record in links] == [
        "Anna.Bell",
        base64.b64encode(b"Anna.Bell").decode(),
        "Anna.Bell",
        "blog-0",
    ]
    assert [record.parameter for record in links] == ["ps_partner_key", "ps_partner_key", None, None]
    assert links[3].url == "https://shop.partnerlinks.example/blog-0"


def test_links_are_requested_for_each_partnership_and_a_404_is_no_link(walk):
    walk.walk()

    assert {request.path.rpartition("/")[2] for request in walk.server.requests("/links/")} == {
        f"part_{index:06d}" for index in range(20)
    }
    tokens = {record.token for record in walk.understand(Collection.Links) if record.affiliate.id == "part_000005"}
    assert tokens == {"partner5", base64.b64encode(b"partner5").decode()}


def test_a_key_is_one_segment_of_the_path(walk):
    request = walk.source.request(_list(walk, "links"), None, walk.context, "../customers?x=")

    assert request.path == "/links/partnership/..%2Fcustomers%3Fx%3D"


def test_a_partnership_without_partner_key_and_group_has_no_token(walk):
    walk.account["partnerships"].update(0, partner_key=None, group=None, stats=None, first_name=None)

    walk.walk()

    record = walk.record(Collection.Affiliates, "part_000000")
    assert (record.group, record.full_name) == (None, "Berg")
    assert (Collection.Links, "part_000000/partner_key") not in walk.rows
    assert ("referrals", "part_000000", "") not in walk.figures


def test_the_number_of_customers_is_a_figure_of_each_partnership(walk):
    walk.walk()

    counted = {}
    for record in walk.understand(Collection.Customers):
        counted[record.affiliate.id] = counted.get(record.affiliate.id, 0) + 1
    stated = {subject: value for (name, subject, _), value in walk.figures.items() if name == "referrals" and value}
    assert stated == counted


def test_a_customer_has_both_ids_and_a_lead_has_no_billing_id(walk):
    walk.walk()

    paying, lead = (walk.record(Collection.Customers, key) for key in ("cust_00000000", "cust_00000059"))
    assert (paying.billing_id, paying.claimed_id) == ("cus_00000000000000", "user-0")
    assert (lead.billing_id, lead.claimed_id, lead.email) == (None, "user-59", "buyer59@customers.example.com")
    assert paying.created_at == datetime(2024, 11, 9, tzinfo=UTC)


def test_a_customer_of_a_test_is_left_out(walk):
    record = _understand(walk, Collection.Customers, {"key": "cust_1", "email": "a@example.com", "test": True})

    assert record.problem == LeftOutReason.TestRow
    assert record.affiliate is None


@pytest.mark.parametrize(
    ("status", "payment_status", "kind"),
    [
        ("paid", None, CommissionKind.Paid),
        ("approved", "withdrawn", CommissionKind.Paid),
        ("approved", "in_transit", CommissionKind.Paid),
        ("approved", "available", CommissionKind.Paid),
        ("approved", "paid_externally", CommissionKind.Paid),
        ("approved", None, CommissionKind.Owed),
        ("approved", "failed", CommissionKind.Owed),
        ("approved", "merging", CommissionKind.Owed),
        ("pending", None, CommissionKind.Pending),
        ("scheduled", None, CommissionKind.Pending),
        ("hold", None, CommissionKind.Held),
        ("declined", None, CommissionKind.Denied),
        ("paid", "paid_and_refunded", CommissionKind.Denied),
        ("paid", "expired", CommissionKind.Denied),
        ("unheard_of", None, None),
        (None, None, None),
    ],
)
def test_statuses_become_kinds(walk, status, payment_status, kind):
    record = _understand(walk, Collection.Commissions, _reward(reward_status=status, payment_status=payment_status))

    assert record.kind == kind


def test_a_reward_has_its_sale_its_partner_and_its_customer(walk):
    record = _understand(walk, Collection.Commissions, _reward())

    assert (record.currency, record.commission_cents, record.amount_cents) == ("USD", 1_000, 5_000)
    assert record.occurred_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert record.affiliate == AffiliateRef(id="part_1", email="ann@example.com")
    assert (record.payment, record.claimed_id, record.customer_email) == ("tran_1", "user-1", "buyer@example.com")


@pytest.mark.parametrize(("currency", "cents"), [("jpy", 1_234), ("KWD", 1_234)])
def test_amounts_are_minor_units_of_their_currency(walk, currency, cents):
    transaction = {"key": "tran_1", "amount": 9_999, "currency": currency.upper()}
    record = _understand(
        walk, Collection.Commissions, _reward(amount=cents, currency=currency, transaction=transaction)
    )

    assert (record.currency, record.commission_cents, record.amount_cents) == (currency.upper(), cents, 9_999)
    assert record.warnings == ()


def test_a_transaction_in_another_currency_has_no_amount(walk):
    transaction = {"key": "tran_1", "amount": 5_000, "currency": "EUR"}
    record = _understand(walk, Collection.Commissions, _reward(transaction=transaction))

    assert record.amount_cents == 0
    assert record.warnings == ("sale_in_other_currency",)
    assert record.is_sale


def test_a_reward_made_by_hand_has_no_sale(walk):
    record = _understand(walk, Collection.Commissions, _reward(customer=None, transaction=None, currency=None))

    assert (record.amount_cents, record.commission_cents, record.currency) == (0, 1_000, "USD")
    assert (record.payment, record.claimed_id, record.warnings) == (None, None, ())
    assert not record.is_sale


def test_an_amount_that_is_no_number_is_unreadable(walk):
    with pytest.raises(UnreadableRow):
        _understand(walk, Collection.Commissions, _reward(amount="much"))


def test_a_partner_whom_only_a_reward_names_is_a_mention(walk):
    walk.account["partnerships"].delete(3, key="key")

    walk.walk()

    mention = next(row for row in walk.mentions())
    record = walk.source.understand(mention, walk.context)
    assert [row.source_id for row in walk.mentions()] == ["part_000003"]
    assert (record.email, record.status, record.is_mention) == ("partner3@example.com", AffiliateStatus.Rejected, True)


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"items": [{"name": "no key"}], "has_more": True}},
        {"data": {"items": [{"key": "cust_9"}], "has_more": True}},
    ],
)
def test_a_page_that_leads_nowhere_is_read_again(walk, body):
    with pytest.raises(UnreadablePage):
        walk.source.read_page(
            _list(walk, "customers"), {"phase": 0, "after": "cust_9"}, SourceResponse(200, {}, body), walk.context
        )
