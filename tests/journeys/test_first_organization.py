"""From `flask org create` to the first paid affiliate, by pages alone. Source: docs/deploy.md, steps 4 to 9."""

import html
import re
from uuid import UUID, uuid4

import pytest

from tests.support.job_queues import drain
from tests.support.outside.post_office import PostOffice
from tests.support.outside.visitor import Visitor
from tests.support.pages.filled_forms import submit
from tests.support.rows.brands import Brand


@pytest.fixture
def office(app, monkeypatch):
    post_office = PostOffice(monkeypatch)
    yield post_office
    post_office.close()


@pytest.fixture
def emails():
    """Return addresses that no other test uses: of the Owner and of the affiliate."""
    suffix = uuid4().hex
    return f"ada-{suffix}@acme.example", f"ben-{suffix}@blog.example"


def _read_link(office, email):
    """Return the path of the first link in the newest email to an address."""
    drain()
    texts = [message.text for message in office.sink.messages if message.recipients == [email]]
    return "/" + re.search(r"http\S+", texts[-1])[0].split("/", 3)[3]


def _sign_in(app, office, email):
    browser = Visitor(app)
    submit(browser, _read_link(office, email), "Sign in")
    return browser


def _text(page):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text.partition("<main")[2])).split())


def test_stranger_pays_the_first_affiliate_without_the_shell(app, office, flask, emails):
    ada, ben = emails
    assert flask("mail", "test", ada)[0] == 0
    organization = flask.json("org", "create", "--name", "Acme", "--owner-email", ada, "--verified")

    # The program, and an affiliate whom the Owner approves.
    owner = _sign_in(app, office, ada)
    new_program = {"name": "Spring", "defaultCommissionValue": "20", "referralDestinationUrl": "https://acme.example/"}
    program = submit(owner, "/dashboard/programs/new", "Create program", **new_program)
    assert "lead nowhere" not in program.text
    invite = {"email": ben, "fullName": "Ben Blogger", "autoApprove": None}
    submit(owner, "/dashboard/invites", "Send invite", **invite)
    invite_path = _read_link(office, ben)
    accepted = submit(Visitor(app), invite_path, "Accept invitation")
    slug = re.search(r"/r/([\w-]+)", accepted.text)[1]
    submit(owner, "/dashboard/affiliates/applications", "Approve")
    assert Visitor(app).open(f"/r/{slug}").headers["Location"].startswith("https://acme.example/")

    # The affiliate signs in and says where the money goes.
    submit(Visitor(app), "/sign-in", "Send me a link", email=ben)
    affiliate = _sign_in(app, office, ben)
    submit(affiliate, "/portal/payout-account", "Save", method="Wallet", walletEmail=ben)

    # A sale from the brand's own server, with a key of the page.
    keys = submit(owner, "/dashboard/api-keys", "Create key", name="shop", scope="read_write").text
    key, secret = (re.search(rf"\b{start}_[\w-]{{20,}}", keys)[0] for start in ("ff_live", "ffsec"))
    shop = Brand(app, UUID(organization["id"]), key, secret, [])
    assert shop.sale(affiliateSlug=slug, amountCents=4_900).status_code == 200
    drain()

    # Approve, pay, and record the payment.
    conversion = re.search(r"/dashboard/conversions/[0-9a-f-]{36}", owner.open("/dashboard/conversions").text)[0]
    submit(owner, conversion, "Approve", reason="First sale")
    run = submit(owner, "/dashboard/payouts/new/confirm", "Pay 1 affiliate", total="9.80")
    payout = re.search(r"/dashboard/payouts/[0-9a-f-]{36}", run.text)[0]
    paid = submit(owner, payout, "Mark as paid", reference="bank-77")

    assert "9.80 USD Paid" in _text(paid)
    assert "9.80 USD Paid" in _text(affiliate.open("/portal"))
