"""`flask affiliate payout-account` as an operator types it."""

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
    """The id of an affiliate of the brand, as text."""
    brand.program()
    return str(brand.affiliate("ben", email=email, email_normalized=email))


def _shown(flask, *arguments):
    found = flask.json("affiliate", "payout-account", *arguments)
    return found["method"], found["destination"], found["source"]


def _payee(brand):
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    with db.unit_of_work(brand.id):
        (found,) = candidates.find_payees(organization_id=brand.id, affiliate_ids=[affiliate_id]).values()
    return found.method, found.destination


def test_an_operator_says_where_somebody_is_paid(flask, brand, ben):
    nowhere = _shown(flask, ben)

    said = _shown(flask, ben, "--method", "Wallet", "--email", "Ben@Wallet.example.com")

    assert (nowhere, said) == ((None, None, None), ("Wallet", "b...@w...", "operator"))
    assert _shown(flask, ben) == said
    assert _payee(brand) == ("Wallet", "ben@wallet.example.com")


@pytest.mark.parametrize(
    ("method", "account"), [("ProcessorConnect", "acct_1Nv0FGQ9RKHgCVdK"), ("GlobalPayouts", "rcp_0123456789")]
)
def test_other_methods_take_an_account(flask, brand, ben, method, account):
    assert _shown(flask, ben, "--method", method, "--account", account) == (method, f"...{account[-4:]}", "operator")
    assert _payee(brand) == (method, account)


def test_a_person_is_told_in_one_line(flask, ben):
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


def test_it_is_audited_without_the_account(flask, brand, ben):
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


def test_cleared_is_what_the_operator_said_alone(flask, app, brand, ben, email):
    brand.rows("update affiliate set wallet_email = 'import@example.com' where id = %s returning id", ben)
    flask("affiliate", "payout-account", ben, "--method", "ProcessorConnect", "--account", "acct_0123456789")

    assert _shown(flask, ben, "--clear") == ("Wallet", "i...@e...", "import")
    Partner(app, email).put(URL, {"method": "Wallet", "walletEmail": "own@example.com"})
    assert _shown(flask, ben, "--clear") == ("Wallet", "o...@e...", "affiliate")


def test_what_the_person_says_stays_in_force(flask, app, brand, ben, email):
    Partner(app, email).put(URL, {"method": "Wallet", "walletEmail": "own@example.com"})

    assert _shown(flask, ben, "--method", "ProcessorConnect", "--account", "acct_0123456789") == (
        "Wallet",
        "o...@e...",
        "affiliate",
    )
    assert _payee(brand) == ("Wallet", "own@example.com")


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
def test_half_an_account_is_a_usage_error_and_changes_nothing(flask, brand, ben, options):
    assert flask("affiliate", "payout-account", ben, *options)[0] == 2
    assert _payee(brand) == (None, None)


def test_an_affiliate_who_is_not_there_is_paid_nowhere(flask, app):
    for options in ((), ("--clear",), ("--method", "Wallet", "--email", "ben@example.com")):
        code, said = flask("affiliate", "payout-account", str(uuid4()), *options)

        assert code == 1
        assert "There is no affiliate" in said
