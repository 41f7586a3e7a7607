"""Lemon Squeezy: sales instead of commissions, what is unpaid, lists that shrink, and what its objects mean."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from adapters.switches.base import SourceResponse, SourceRow
from commands.demo.played.sample import Sample
from domain.statuses import AffiliateStatus
from domain.switches.options import AssumedCommission
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection
from tests.support.switches.walking import Walk

_PERCENT = AssumedCommission("Percentage", Decimal(30))


@pytest.fixture
def walk(start):
    return start("lemonsqueezy")


def _list(walk: Walk, name: str):
    return next(walked for walked in walk.source.lists(walk.context) if walked.name == name)


def _add(walk: Walk, name: str, **attributes):
    """Add the newest row of a list, like the one before it but for some attributes; return its record's id."""
    row = dict(walk.account[name][-1])
    number = str(int(row["id"]) + 1)
    walk.account[name].append({**row, "id": number, "attributes": {**row["attributes"], **attributes}})
    return {"orders": f"order-{number}", "invoices": f"invoice-{number}"}.get(name, number)


def _sales(walk: Walk):
    return [record for record in walk.understand(Collection.Commissions) if record.word != "unpaid_earnings"]


def test_all_lists_bring_the_account(start):
    walk = start("lemonsqueezy", Sample(affiliates=110, customers=210, commissions=430)).walk()

    assert {row.source_id for row in walk.rows_of(Collection.Affiliates)} == {str(100 + index) for index in range(110)}
    assert {row.source_id for row in walk.rows_of(Collection.Customers)} == {str(1000 + index) for index in range(210)}
    orders = {f"order-{row['id']}" for row in walk.account["orders"]}
    renewals = {
        f"invoice-{row['id']}" for row in walk.account["invoices"] if row["attributes"]["billing_reason"] != "initial"
    }
    assert {record.source_id for record in _sales(walk)} == orders | renewals
    assert len(orders) + len(renewals) == 430


@pytest.mark.parametrize("count", [1, 99, 100, 101, 200])
def test_no_row_is_lost_where_pages_end(start, count):
    walk = start("lemonsqueezy", Sample(affiliates=1, customers=count, commissions=1))

    walk.walk_list(_list(walk, "customers"))

    assert len(walk.rows_of(Collection.Customers)) == count
    assert walk.totals["customers"] == count
    assert walk.figures["total_customers", "", ""] == count
    assert len(walk.server.requests("/customers")) == (count + 99) // 100


def test_without_a_number_of_pages_a_short_page_is_the_last(walk):
    walk.walk_list(_list(walk, "customers"))
    response = walk.fetch(walk.source.request(_list(walk, "customers"), None, walk.context)).json()

    page = walk.source.read_page(
        _list(walk, "customers"), None, SourceResponse(200, {}, {"data": response["data"], "meta": {}}), walk.context
    )

    assert (page.cursor, page.total, len(page.rows)) == (None, None, 60)


def test_a_cursor_steps_back_to_the_first_page_at_the_most(walk):
    orders = _list(walk, "orders")

    assert walk.source.step_back(orders, {"page": 5}, 2) == {"page": 3}
    assert walk.source.step_back(orders, {"page": 2}, 4) is None


def test_the_store_is_the_account(walk):
    account = walk.read_account()

    assert (account.name, account.reference) == ("Played Store", "1")
    assert [campaign.source_id for campaign in account.campaigns] == ["all"]


def test_another_store_is_not_found(walk):
    credentials = {**walk.account.credentials, "storeId": "2"}

    assert walk.fetch(walk.source.account_request(credentials)).status_code == 404


def test_a_store_number_may_be_typed_with_its_sign(walk):
    assert walk.source.account_request({"apiKey": "k", "storeId": "#12"}).path == "/stores/12"
    assert walk.source.account_request({"apiKey": "k", "storeId": "../1"}).path == "/stores/..%2F1"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("active", AffiliateStatus.Approved),
        ("pending", AffiliateStatus.Pending),
        ("disabled", AffiliateStatus.Paused),
        ("unheard_of", None),
        (None, None),
    ],
)
def test_statuses_of_affiliates(walk, status, expected):
    source_id = _add(walk, "affiliates", status=status, user_email="new@example.com")

    walk.walk()

    record = walk.record(Collection.Affiliates, source_id)
    assert (record.status, record.email) == (expected, "new@example.com")


def test_a_customer_has_the_billing_id_and_the_first_affiliate(walk):
    walk.account["customers"].append(
        {
            "type": "customers",
            "id": "77",
            "attributes": {"email": "a@example.com", "name": "Ada", "created_at": "2026-01-01T00:00:00.000000Z"},
            "relationships": {"affiliates": {"data": [{"id": "103"}, {"id": "104"}]}},
        }
    )

    walk.walk()

    record = walk.record(Collection.Customers, "77")
    assert (record.billing_id, record.email, record.name) == ("77", "a@example.com", "Ada")
    assert record.affiliate == AffiliateRef(id="103")
    assert record.created_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("relationships", [None, {}, {"affiliates": {"links": {}}}, {"affiliates": {"data": []}}])
def test_a_customer_may_have_no_affiliate(walk, relationships):
    walk.account["customers"].update(0, relationships=relationships)

    walk.walk()

    assert walk.record(Collection.Customers, "1000").affiliate is None


@pytest.mark.parametrize(
    ("list_name", "changes"),
    [
        ("orders", {"affiliate_id": None}),
        ("orders", {"status": "pending"}),
        ("orders", {"status": "failed"}),
        ("orders", {"status": "fraudulent"}),
        ("invoices", {"billing_reason": "initial"}),
        ("invoices", {"affiliate_id": None}),
        ("invoices", {"status": "void"}),
        ("invoices", {"status": "pending"}),
    ],
)
def test_orders_and_invoices_without_a_referred_sale_are_no_rows(walk, list_name, changes):
    source_id = _add(walk, list_name, **changes)

    walk.walk()

    assert (Collection.Commissions, source_id) not in walk.rows
    assert len(_sales(walk)) == 200


@pytest.mark.parametrize("status", ["paid", "refunded", "partial_refund"])
@pytest.mark.parametrize("list_name", ["orders", "invoices"])
def test_every_sale_counts_as_paid(walk, status, list_name):
    source_id = _add(walk, list_name, status=status, billing_reason="updated")

    walk.walk()

    assert walk.record(Collection.Commissions, source_id).kind == CommissionKind.Paid


def test_a_sale_is_its_subtotal_less_the_discount(start):
    walk = start("lemonsqueezy", assumed_commission=_PERCENT)
    source_id = _add(
        walk,
        "invoices",
        subtotal=10_000,
        discount_total=1_005,
        tax=900,
        total=9_895,
        currency="EUR",
        refunded=False,
        refunded_amount=0,
        billing_reason="renewal",
        subscription_id=40_001,
        created_at="2026-01-01T00:00:00.000000Z",
        customer_id=1001,
        affiliate_id=101,
        user_email="buyer@example.com",
    )

    walk.walk()

    record = walk.record(Collection.Commissions, source_id)
    assert (record.currency, record.amount_cents, record.refunded_cents) == ("EUR", 8_995, 0)
    assert record.commission_cents == 2_698  # 30 % is 2698.5, rounded half to even
    assert record.affiliate == AffiliateRef(id="101")
    assert (record.customer, record.billing_id, record.subscription_id) == ("1001", "1001", "40001")
    assert record.customer_email == "buyer@example.com"
    assert record.occurred_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("assumed", "currency", "cents"),
    [
        (None, "USD", 0),
        (_PERCENT, "USD", 300),
        (_PERCENT, "KWD", 300),
        (AssumedCommission("Fixed", Decimal("2.5")), "USD", 250),
        (AssumedCommission("Fixed", Decimal("2.5")), "KWD", 2_500),
        (AssumedCommission("Fixed", Decimal(300)), "JPY", 300),
    ],
)
def test_the_commission_is_assumed(start, assumed, currency, cents):
    walk = start("lemonsqueezy", assumed_commission=assumed)
    source_id = _add(walk, "orders", subtotal=1_000, discount_total=0, currency=currency)

    walk.walk()

    record = walk.record(Collection.Commissions, source_id)
    assert (record.currency, record.amount_cents, record.commission_cents) == (currency, 1_000, cents)


@pytest.mark.parametrize(
    ("status", "refunded", "refunded_amount", "expected"),
    [
        ("paid", False, 0, 0),
        ("partial_refund", False, 400, 400),
        ("partial_refund", False, 1_150, 1_000),
        ("refunded", True, 1_200, 1_000),
        ("refunded", None, None, 1_000),
    ],
)
def test_a_refund_is_noted_up_to_the_sale(start, status, refunded, refunded_amount, expected):
    walk = start("lemonsqueezy", assumed_commission=_PERCENT)
    source_id = _add(
        walk,
        "orders",
        subtotal=1_000,
        discount_total=0,
        tax=200,
        status=status,
        refunded=refunded,
        refunded_amount=refunded_amount,
    )

    walk.walk()

    record = walk.record(Collection.Commissions, source_id)
    assert (record.refunded_cents, record.commission_cents) == (expected, 300)


@pytest.mark.parametrize("list_name", ["orders", "invoices"])
def test_a_sale_in_test_mode_is_left_out(walk, list_name):
    source_id = _add(walk, list_name, test_mode=True, billing_reason="renewal")

    walk.walk()

    assert walk.record(Collection.Commissions, source_id).problem == LeftOutReason.TestRow


def test_a_customer_in_test_mode_is_left_out(walk):
    source_id = _add(walk, "customers", test_mode=True)

    walk.walk()

    assert walk.record(Collection.Customers, source_id).problem == LeftOutReason.TestRow


@pytest.mark.parametrize(("unpaid", "problem"), [("payable", None), ("history", LeftOutReason.StatusExcluded)])
def test_unpaid_earnings_are_one_bonus_of_each_affiliate(start, unpaid, problem):
    walk = start("lemonsqueezy", unpaid=unpaid)
    source_id = _add(walk, "affiliates", unpaid_earnings=4_321, total_earnings=9_999)

    walk.walk()

    record = walk.record(Collection.Commissions, f"unpaid-{source_id}")
    assert (record.kind, record.currency, record.commission_cents) == (CommissionKind.Owed, "USD", 4_321)
    assert (record.amount_cents, record.affiliate, record.problem) == (0, AffiliateRef(id=source_id), problem)
    assert (record.customer, record.billing_id, record.customer_email) == (None, None, None)
    assert walk.figures["commission_amount", source_id, "USD"] == 9_999
    assert walk.figures["paid_commission", source_id, "USD"] == 5_678


@pytest.mark.parametrize("unpaid", [0, None])
def test_an_affiliate_who_was_paid_has_no_bonus(walk, unpaid):
    source_id = _add(walk, "affiliates", unpaid_earnings=unpaid)

    walk.walk()

    assert (Collection.Commissions, f"unpaid-{source_id}") not in walk.rows


def test_earnings_that_are_stated_are_those_of_the_assumed_commission(start):
    walk = start("lemonsqueezy", assumed_commission=_PERCENT).walk()

    earned: dict[str, int] = {}
    for record in _sales(walk):
        if record.currency == "USD":
            earned[record.affiliate.id] = earned.get(record.affiliate.id, 0) + record.commission_cents
    stated = {subject: value for (name, subject, _), value in walk.figures.items() if name == "commission_amount"}
    assert {subject: value for subject, value in stated.items() if value} == earned


def test_an_order_and_an_invoice_of_one_number_are_two_sales(walk):
    attributes = walk.account["orders"][0]["attributes"]
    walk.account["orders"].append({"type": "orders", "id": "5", "attributes": attributes})
    walk.account["invoices"].append(
        {"type": "subscription-invoices", "id": "5", "attributes": {**attributes, "billing_reason": "renewal"}}
    )

    walk.walk()

    assert (
        walk.record(Collection.Commissions, "order-5").payment
        != walk.record(Collection.Commissions, "invoice-5").payment
    )


def test_a_row_without_attributes_is_unreadable(walk):
    row = SourceRow(Collection.Customers, "9", {"id": "9", "type": "customers"})

    assert walk.try_to_understand(row) is None
