"""What speaks against a click or a lead, how much, and what becomes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import fraud
from domain.fraud import ClickFacts, LeadFacts, Verdict

_ADA = {"email": "ada@example.com", "affiliate_email": "ben@example.com"}

#: For each rule facts that only it holds against, and its points.
CLICKS = {
    "bot_agent": ({"is_bot": True}, 100),
    "headless": ({"agent": "Mozilla/5.0 (X11) HeadlessChrome/120.0"}, 80),
    "data_centre": ({"is_from_data_centre": True}, 50),
    "banned_referrer": (
        {"referrer_host": "www.coupons.example", "banned_referrers": frozenset({"coupons.example"})},
        60,
    ),
    "paid_ads": ({"query_names": frozenset({"via", "gclid"})}, 30),
    "burst": ({"network_clicks": 21}, 40),
    "device_spread": ({"device_links": 6}, 30),
    "rapid": ({"ms_since_last": 999}, 30),
    "language_mismatch": ({"languages": ("ru-RU", "ru"), "country": "BR"}, 10),
}
LEADS = {
    "disposable_domain": ({"is_disposable": True}, 60),
    "no_mx": ({"has_mx": False}, 40),
    "self_lead": ({"email": "Ben+lead@example.com"}, 100),
    "daily_cap": ({"leads_today": 4, "daily_cap": 3}, 100),
}


def _lead(**facts):
    return LeadFacts(**_ADA | facts)


@pytest.mark.parametrize(("reason", "facts", "points"), [(name, *known) for name, known in CLICKS.items()])
def test_a_click_gets_the_points_of_the_rule_that_holds(reason, facts, points):
    assert fraud.score(ClickFacts(**facts)) == Verdict(score=points, reasons=(reason,))


@pytest.mark.parametrize(("reason", "facts", "points"), [(name, *known) for name, known in LEADS.items()])
def test_a_lead_gets_the_points_of_the_rule_that_holds(reason, facts, points):
    assert fraud.score(_lead(**facts)) == Verdict(score=points, reasons=(reason,))


def test_what_is_not_known_speaks_against_nobody():
    assert fraud.score(ClickFacts()) == fraud.score(_lead()) == Verdict(score=0, reasons=())


@pytest.mark.parametrize(
    "facts",
    [
        {"agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36"},
        {"referrer_host": "notcoupons.example", "banned_referrers": frozenset({"coupons.example"})},
        {"referrer_host": None, "banned_referrers": frozenset({"coupons.example"})},
        {"query_names": frozenset({"via", "utm_source", "gclids"})},
        {"network_clicks": 20},
        {"device_links": 5},
        {"ms_since_last": 1000},
        {"languages": ("en-US",), "country": "BR"},
        {"languages": ("ru", "pt-BR"), "country": "BR"},
        {"languages": ("tr-DE",), "country": "DE"},
        {"languages": ("ru",), "country": "ZZ"},
        {"languages": ("ru",), "country": None},
        {"languages": (), "country": "BR"},
    ],
)
def test_a_click_at_the_free_side_of_a_rule_has_no_points(facts):
    assert fraud.score(ClickFacts(**facts)).reasons == ()


@pytest.mark.parametrize(
    "facts",
    [
        {"has_mx": True},
        {"has_mx": None},
        {"leads_today": 3, "daily_cap": 3},
        {"leads_today": 10**18, "daily_cap": None},
        {"email": "b.en@example.com"},
    ],
)
def test_a_lead_at_the_free_side_of_a_rule_has_no_points(facts):
    assert fraud.score(_lead(**facts)).reasons == ()


@pytest.mark.parametrize("name", ["GCLID", "fbclid", "msclkid", "ttclid"])
def test_the_parameters_of_advertising_networks_are_known_in_any_case(name):
    assert fraud.score(ClickFacts(query_names=frozenset({name}))).reasons == ("paid_ads",)


def test_the_affiliates_own_inbox_is_known_behind_dots_and_tags():
    lead = LeadFacts(email="a.da+x@googlemail.com", affiliate_email="ada@gmail.com")

    assert fraud.score(lead).reasons == ("self_lead",)


def test_a_lead_starts_from_the_verdict_on_its_click():
    click = fraud.score(ClickFacts(is_from_data_centre=True))

    assert fraud.score(_lead(has_mx=False, click=click)) == Verdict(90, ("data_centre", "no_mx"))


def _together(table, names):
    facts = {}
    for name in names:
        facts |= table[name][0]
    return facts


@given(names=st.sets(st.sampled_from(sorted(CLICKS))), data=st.data())
def test_points_add_up_to_100_at_most_in_whatever_order_rules_are_read(names, data):
    facts = ClickFacts(**_together(CLICKS, names))
    found = fraud.score(facts)
    shuffled = data.draw(st.permutations(fraud.CLICK_RULES))

    assert found.score == min(100, sum(CLICKS[name][1] for name in names))
    assert set(found.reasons) == names
    assert min(100, sum(rule.points for rule in shuffled if rule.holds(facts))) == found.score


@given(names=st.sets(st.sampled_from(sorted(LEADS))), click=st.integers(0, 100))
def test_a_leads_points_add_up_with_its_clicks(names, click):
    found = fraud.score(_lead(**_together(LEADS, names), click=Verdict(click, ("rapid",))))

    assert found.score == min(100, click + sum(LEADS[name][1] for name in names))
    assert set(found.reasons) == names | {"rapid"}


@given(names=st.sets(st.sampled_from(sorted(CLICKS))), more=st.sampled_from(sorted(CLICKS)))
def test_one_more_suspicion_never_lowers_a_score(names, more):
    fewer = fraud.score(ClickFacts(**_together(CLICKS, names)))

    assert fraud.score(ClickFacts(**_together(CLICKS, names | {more}))).score >= fewer.score


@pytest.mark.parametrize(
    ("strictness", "hold", "block"), [("lenient", 70, 95), ("balanced", 50, 80), ("strict", 35, 65)]
)
def test_a_band_begins_at_its_own_score(strictness, hold, block):
    decided = [fraud.decide(score, strictness) for score in range(101)]

    assert decided == ["pass"] * hold + ["hold"] * (block - hold) + ["block"] * (101 - block)


def test_a_strictness_that_there_is_not_is_an_error():
    with pytest.raises(ValueError, match="harsh"):
        fraud.decide(50, "harsh")


@pytest.mark.parametrize(
    ("score", "severity"), [(0, "low"), (49, "low"), (50, "medium"), (79, "medium"), (80, "high"), (100, "high")]
)
def test_a_score_is_called_low_medium_or_high(score, severity):
    assert fraud.severity(score) == severity


@pytest.mark.parametrize("strictness", list(fraud.Strictness))
def test_many_clicks_from_one_address_alone_block_nobody(strictness):
    score = fraud.score(ClickFacts(network_clicks=10**18)).score

    assert fraud.decide(score, strictness) != "block"


@pytest.mark.parametrize("strictness", list(fraud.Strictness))
@pytest.mark.parametrize("facts", [LEADS["self_lead"][0], LEADS["daily_cap"][0]])
def test_own_leads_and_leads_over_the_cap_are_never_accepted(strictness, facts):
    assert fraud.decide(fraud.score(_lead(**facts)).score, strictness) == "block"
