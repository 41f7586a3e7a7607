"""`flask affiliate payout-account`: the payout account set by an operator."""

from uuid import uuid4

import pytest

from models import db
from models.payouts import candidates
from tests.support.rows.brands import Partner

URL = "/api/me/payout-account"


@pytest.fixture
def email():
    return f"ben-{uuid4().hex}@example.com"


@pytest.fixture
def ben(brand, email):
    """Return the id of an affiliate of the brand as text."""
    brand.program()
    return str(brand.affiliate("ben", email=email, email_normalized=email))


def _read_account(flask, *arguments):
    account = flask.json("affiliate", "payout-account", *arguments)
    return account["method"], account["destination"], account["source"]


def _find_payee(brand):
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    with db.unit_of_work(brand.id):
        (payee,) = candidates.find_payees(organization_id=brand.id, affiliate_ids=[affiliate_id]).values()
    return payee.method, payee.destination


def test_operator_sets_the_payout_account(flask, brand, ben):
    before = _read_account(flask, ben)

    after = _read_account(flask, ben, "--method", "Wallet", "--email", "Ben@Wallet.example.com")

    assert (before, after) == ((None, None, None), ("Wallet", "b...@w...", "operator"))
    assert _read_account(flask, ben) == after
    assert _find_payee(brand) == ("Wallet", "ben@wallet.example.com")


@pytest.mark.parametrize(
    ("method", "account"), [("ProcessorConnect", "acct_1Nv0FGQ9RKHgCVdK"), ("GlobalPayouts", "rcp_0123456789")]
)
def test_other_methods_require_an_account(flask, brand, ben, method, account):
    assert _read_account(flask, ben, "--method", method, "--account", account) == (
        method,
        f"...{account[-4:]}",
        "operator",
    )
    assert _find_payee(brand) == (method, account)


def test_output_is_one_line(flask, ben):
    assert flask("affiliate", "payout-account", ben) == (
        0,
        f"{ben}: no payout account yet. Next: the affiliate sets one, or give --method\n",
    )
    assert flask(
        "affiliate", "payout-account", ben, "--method", "ProcessorConnect", "--account", "acct_0123456789"
    ) == (
        0,
        f"{ben}: ProcessorConnect ...6789 (set by: operator)\n",
    )


def test_change_is_audited_with_a_masked_account(flask, brand, ben):
    flask("affiliate", "payout-account", ben, "--method", "Wallet", "--email", "ben@wallet.example.com")
    flask("affiliate", "payout-account", ben, "--clear")
    flask("affiliate", "payout-account", ben)

    wallet = {"method": "Wallet", "destination": "b...@w..."}
    assert brand.rows(
        "select actor_type, entity_id, after from audit_entry where action = 'payout_account.changed'"
        " order by created_at, id"
    ) == [
        ("operator", ben, {"before": None, "after": wallet}),
        ("operator", ben, {"before": wallet, "after": None}),
    ]


def test_clear_removes_only_the_operators_account(flask, app, brand, ben, email):
    brand.rows("update affiliate set wallet_email = 'import@example.com' where id = %s returning id", ben)
    flask("affiliate", "payout-account", ben, "--method", "ProcessorConnect", "--account", "acct_0123456789")

    assert _read_account(flask, ben, "--clear") == ("Wallet", "i...@e...", "import")
    Partner(app, email).put(URL, {"method": "Wallet", "walletEmail": "own@example.com"})
    assert _read_account(flask, ben, "--clear") == ("Wallet", "o...@e...", "affiliate")


def test_account_set_by_the_affiliate_takes_precedence(flask, app, brand, ben, email):
    Partner(app, email).put(URL, {"method": "Wallet", "walletEmail": "own@example.com"})

    assert _read_account(flask, ben, "--method", "ProcessorConnect", "--account", "acct_0123456789") == (
        "Wallet",
        "o...@e...",
        "affiliate",
    )
    assert _find_payee(brand) == ("Wallet", "own@example.com")


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "Wallet"),
        ("--email", "ben@example.com"),
        ("--account", "acct_1"),
        ("--method", "Wallet", "--account", "acct_1"),
        ("--method", "ProcessorConnect", "--email", "ben@example.com"),
        ("--method", "ProcessorConnect", "--account", "cus_1"),
        ("--method", "Wallet", "--email", "nobody"),
        ("--method", "Wallet", "--email", "ben@example.com", "--account", "acct_1"),
        ("--method", "Manual", "--account", "acct_1"),
        ("--clear", "--method", "Wallet", "--email", "ben@example.com"),
    ],
)
def test_incomplete_account_is_a_usage_error_and_changes_nothing(flask, brand, ben, options):
    assert flask("affiliate", "payout-account", ben, *options)[0] == 2
    assert _find_payee(brand) == (None, None)


def test_unknown_affiliate_is_refused(flask, app):
    for options in ((), ("--clear",), ("--method", "Wallet", "--email", "ben@example.com")):
        code, output = flask("affiliate", "payout-account", str(uuid4()), *options)

        assert code == 1
        assert "There is no affiliate" in output
