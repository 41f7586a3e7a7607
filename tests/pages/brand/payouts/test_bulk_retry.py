"""Failed payouts that an Owner selects on the list are sent again, each once."""

import re
from html import unescape

import pytest

from models import db
from tests.support.rows.payroll import Payroll

_HERE = "/dashboard/payouts"
_AGE_LOGIN = "update web_session set signed_in_at = now() - interval '61 minutes' where email = 'owner@example.com'"
_SLUGS = ("ann", "ben", "cleo")


@pytest.fixture
def payout_ids(payroll):
    """Return the ids of three failed payouts by slug."""
    for slug in _SLUGS:
        payroll.affiliate(slug)
        payroll.sell(slug, 10_000)
    payroll.run()
    payroll.brand.set(sandboxRail="fail")
    payroll.pay()
    payroll.brand.set(sandboxRail="ok")
    return {slug: _payout_id(payroll, slug) for slug in _SLUGS}


def _payout_id(payroll, slug):
    ((payout_id,),) = payroll.brand.rows(
        "select id::text from payout where affiliate_id = %s", payroll.affiliates[slug]
    )
    return payout_id


def _retry(visitor, html, ids):
    form = re.search(r'<form class="pad bulk" method="post" action="([^"]+)"(.*?)</form>', html, re.DOTALL)
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[2]))
    return visitor.send(unescape(form[1]), {name: unescape(value) for name, value in hidden.items()} | {"ids": ids})


def test_selected_payouts_are_sent_again_and_the_others_not(payroll, payout_ids, sign_in):
    owner = sign_in()
    html = owner.open(f"{_HERE}?status=Failed").text
    assert set(re.findall(r'name="ids" value="([^"]+)"', html)) == set(payout_ids.values())

    answers = [_retry(owner, html, [payout_ids["ann"], payout_ids["ben"], payout_ids["ann"]]) for _ in range(2)]

    assert {answer.location for answer in answers} == {
        f"{_HERE}?status=Failed&done=bulk&action=retry&affected=2&skipped="
    }
    assert "Sent again: 2 payouts." in owner.open(answers[0].location).text
    payroll.pay()
    assert payroll.brand.rows("select status, attempt, count(*) from payout group by 1, 2 order by 1") == [
        ("Failed", 1, 1),
        ("Paid", 2, 2),
    ]


def test_payouts_that_cannot_be_retried_are_counted_by_reason(payroll, payout_ids, sign_in, app):
    rival = Payroll.create(app)
    rival.affiliate("rob")
    rival.sell("rob")
    rival.run()
    payroll.execute("update affiliate set status = 'Paused' where id = %s", payroll.affiliates["ann"])
    payroll.execute(
        "update affiliate set payout_method = null, payout_destination = null where id = %s", payroll.affiliates["ben"]
    )
    owner = sign_in()
    html = owner.open(_HERE).text
    owner.send(f"{_HERE}/{payout_ids['cleo']}/void", {"_key": "void"})

    answer = _retry(owner, html, [*payout_ids.values(), _payout_id(rival, "rob"), "x"])

    assert "affected=0" in answer.location
    page = " ".join(owner.open(answer.location).text.split())
    for words in (
        "1 belong to affiliates who are not approved.",
        "1 belong to affiliates without a payout account.",
        "1 are no longer failed.",
        "2 no longer exist.",
    ):
        assert words in page, words
    assert rival.payouts("status, attempt") == [("Pending", 1)]


def test_selection_is_kept_during_a_fresh_login(payroll, payout_ids, sign_in):
    owner = sign_in()
    html = owner.open(f"{_HERE}?status=Failed").text
    with db.any_org_work():
        db.db.run(_AGE_LOGIN)

    redirect = _retry(owner, html, [payout_ids["ann"]])

    assert (redirect.status_code, redirect.location.partition("?")[0]) == (303, "/sign-in")
    assert payroll.brand.rows("select max(attempt) from payout") == [(1,)]
    sign_in(visitor=owner)
    restored = owner.open(f"{_HERE}?status=Failed").text
    assert f'value="{payout_ids["ann"]}" form="bulk" checked' in restored
    assert restored.count('form="bulk" checked') == 1
    assert _retry(owner, restored, [payout_ids["ann"]]).location.endswith("affected=1&skipped=")


@pytest.mark.parametrize("number", [0, 101])
def test_no_or_too_many_payouts_change_nothing(payroll, payout_ids, sign_in, number):
    owner = sign_in()
    answer = _retry(owner, owner.open(_HERE).text, [payout_ids["ann"]] * number)

    assert (answer.status_code, "Select 1 to 100 failed payouts." in answer.text) == (422, True)
    assert payroll.brand.rows("select max(attempt) from payout") == [(1,)]


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_only_an_owner_sees_and_sends_the_form(payroll, payout_ids, sign_in, role):
    member = sign_in(role)
    html = member.open(_HERE).text

    assert 'id="bulk"' not in html
    assert 'name="ids"' not in html
    assert member.send(f"{_HERE}/retry", {"_key": "k", "ids": list(payout_ids.values())}).status_code == 403
    assert payroll.brand.rows("select max(attempt) from payout") == [(1,)]
