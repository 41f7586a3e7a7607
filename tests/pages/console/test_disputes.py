"""Disputes on the console: both sides' statements, both amounts before the settlement, and its outcome."""

import pytest

from models import db
from tests.support.job_queues import drain
from tests.support.outside.console import list_audit_entries
from tests.support.rows.deal_scene import REASON, DealScene

_NORA = ("operator", "--email", "nora-of-disputes@example.com")


@pytest.fixture
def dealing(app):
    return DealScene.create(app)


@pytest.fixture
def disputed_deal(dealing):
    """A deal of 500.00 and 200.00 USD, the second part of which is in dispute."""
    deal_id = dealing.create_funded(50_000, 20_000)
    dealing.dispute(deal_id, 2, who=dealing.creator)
    return deal_id


def _settle(visitor, deal_id, key="a", **form):
    return visitor.send(f"/console/disputes/{deal_id}/milestones/2/settle", {"_key": key} | form)


def test_dispute_is_settled_in_two_steps(operator, dealing, disputed_deal, page_text):
    address = f"/console/disputes/{disputed_deal}/milestones/2/settle"
    home_html, list_html, form_html = (operator.open(path).text for path in ("/console", "/console/disputes", address))
    confirmation = _settle(operator, disputed_deal, amount="150", why="both <late>")
    answer = _settle(operator, disputed_deal, "b", amount="150", why="both <late>", confirmed="15000")
    drain("payouts")

    assert 'href="/console/disputes"' in home_html
    assert f'href="{address}"' in list_html
    assert REASON["reason"] in form_html
    assert REASON["proposedResolution"] in form_html
    assert confirmation.status_code == 200
    assert "To the affiliate 150.00 USD Back to the brand 50.00 USD Reason both &lt;late&gt;" in page_text(confirmation)
    assert dealing.list_statuses(disputed_deal) == ["Funded", "Settled"]
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/console/disputes/{disputed_deal}")
    assert dealing.payouts() == [("Paid", 15_000)]
    assert f'href="{address}"' not in operator.open("/console/disputes").text
    dispute_text = page_text(operator.open(f"/console/disputes/{disputed_deal}"))
    assert "Awarded to the affiliate 150.00 USD Paid 150.00 USD Returned 50.00 USD" in dispute_text
    assert list_audit_entries("deal.settled", disputed_deal)[0][3]["why"] == "both <late>"


def test_changed_amount_is_shown_for_confirmation_again(operator, dealing, disputed_deal, page_text):
    answer = _settle(operator, disputed_deal, amount="200", why="w", confirmed="15000")

    assert (answer.status_code, "To the affiliate 200.00 USD" in page_text(answer)) == (200, True)
    assert dealing.list_statuses(disputed_deal) == ["Funded", "Disputed"]


_INVALID_FORMS = (
    ({"amount": "much", "why": "w"}, "amount"),
    ({"amount": "", "why": "w"}, "amount"),
    ({"amount": "-1", "why": "w"}, "amount"),
    ({"amount": "200.01", "why": "w"}, "amount"),
    ({"amount": "1.005", "why": "w"}, "amount"),
    ({"amount": "9" * 40, "why": "w"}, "amount"),
    ({"amount": "1", "why": " "}, "why"),
    ({"amount": "1", "why": "x" * 10_000, "confirmed": "100"}, "why"),
    ({"amount": "1", "why": "a\x00b", "confirmed": "100"}, "why"),
)


def test_error_is_shown_at_its_field_with_the_typed_values(operator, dealing, disputed_deal):
    for number, (form, field) in enumerate(_INVALID_FORMS):
        answer = _settle(operator, disputed_deal, f"k{number}", **form)

        assert answer.status_code == 422, form
        assert f'id="{field}-error"' in answer.text, form
        assert f'value="{form["amount"]}"' in answer.text, form
    assert dealing.list_statuses(disputed_deal) == ["Funded", "Disputed"]


def test_settled_dispute_cannot_be_settled_again(operator, disputed_deal):
    _settle(operator, disputed_deal, "a", amount="1", why="w", confirmed="100")
    again = _settle(operator, disputed_deal, "b", amount="2", why="w", confirmed="200")

    assert again.status_code == 422
    assert "This milestone is not in dispute" in again.text
    assert operator.open(f"/console/disputes/{disputed_deal}/milestones/3/settle").status_code == 404
    assert operator.open("/console/disputes/none").status_code == 404


def test_operator_with_an_old_login_keeps_the_form(visitor, links, dealing, disputed_deal):
    visitor.open(links(*_NORA))
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '61 minutes' where email = %s", (_NORA[2],))
    redirect = _settle(visitor, disputed_deal, amount="150", why="both late", confirmed="15000")
    address = visitor.open(links(*_NORA)).headers["Location"]
    html = visitor.open(address).text

    assert redirect.headers["Location"].startswith("/sign-in?next=")
    assert address == f"/console/disputes/{disputed_deal}/milestones/2/settle"
    assert 'value="150"' in html
    assert 'value="both late"' in html
    assert dealing.list_statuses(disputed_deal) == ["Funded", "Disputed"]


def test_refused_refund_is_retried(operator, dealing, disputed_deal):
    address = f"/console/disputes/{disputed_deal}/milestones/2/refund"
    assert "No refund to retry" in operator.open(address).text
    dealing.brand.set(sandboxRail="fail")
    _settle(operator, disputed_deal, amount="0", why="w", confirmed="0")
    drain("payouts")
    dealing.brand.set(sandboxRail="ok")

    assert f'href="{address}"' in operator.open(f"/console/disputes/{disputed_deal}").text
    assert 'aria-invalid="true"' in operator.send(address, {"why": "", "_key": "a"}).text
    assert operator.send(address, {"why": "mended", "_key": "b"}).status_code == 303
    drain("payouts")
    assert f'href="{address}"' not in operator.open(f"/console/disputes/{disputed_deal}").text
    assert dealing.get_deal(disputed_deal)["milestones"][1]["returnedCents"] == 20_000
