"""Fraud rules of clicks and leads: their points, the score and the decision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import fraud
from domain.fraud import ClickFacts, LeadFacts, Verdict

_ADA = {"email": "ada@example.com", "affiliate_email": "ben@example.com"}

#: For each rule, facts that match this rule only, and its points.
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


@pytest.mark.parametrize(("reason", "facts", "points"), [(name, *case) for name, case in CLICKS.items()])
def test_click_gets_the_points_of_its_matching_rule(reason, facts, points):
    assert fraud.score(ClickFacts(**facts)) == Verdict(score=points, reasons=(reason,))


@pytest.mark.parametrize(("reason", "facts", "points"), [(name, *case) for name, case in LEADS.items()])
def test_lead_gets_the_points_of_its_matching_rule(reason, facts, points):
    assert fraud.score(_lead(**facts)) == Verdict(score=points, reasons=(reason,))


def test_missing_facts_score_zero():
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
def test_click_just_within_a_limit_has_no_points(facts):
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
def test_lead_just_within_a_limit_has_no_points(facts):
    assert fraud.score(_lead(**facts)).reasons == ()


@pytest.mark.parametrize("name", ["GCLID", "fbclid", "msclkid", "ttclid"])
def test_ad_network_parameters_match_in_any_case(name):
    assert fraud.score(ClickFacts(query_names=frozenset({name}))).reasons == ("paid_ads",)


def test_affiliates_inbox_with_dots_and_tags_is_a_self_lead():
    lead = LeadFacts(email="a.da+x@googlemail.com", affiliate_email="ada@gmail.com")

    assert fraud.score(lead).reasons == ("self_lead",)


def test_lead_score_includes_the_verdict_on_its_click():
    click = fraud.score(ClickFacts(is_from_data_centre=True))

    assert fraud.score(_lead(has_mx=False, click=click)) == Verdict(90, ("data_centre", "no_mx"))


def _merge_facts(table, names):
    facts = {}
    for name in names:
        facts |= table[name][0]
    return facts


@given(names=st.sets(st.sampled_from(sorted(CLICKS))), data=st.data())
def test_points_add_up_to_at_most_100_in_any_rule_order(names, data):
    facts = ClickFacts(**_merge_facts(CLICKS, names))
    verdict = fraud.score(facts)
    shuffled = data.draw(st.permutations(fraud.CLICK_RULES))

    assert verdict.score == min(100, sum(CLICKS[name][1] for name in names))
    assert set(verdict.reasons) == names
    assert min(100, sum(rule.points for rule in shuffled if rule.holds(facts))) == verdict.score


@given(names=st.sets(st.sampled_from(sorted(LEADS))), click=st.integers(0, 100))
def test_lead_points_are_added_to_the_points_of_its_click(names, click):
    verdict = fraud.score(_lead(**_merge_facts(LEADS, names), click=Verdict(click, ("rapid",))))

    assert verdict.score == min(100, click + sum(LEADS[name][1] for name in names))
    assert set(verdict.reasons) == names | {"rapid"}


@given(names=st.sets(st.sampled_from(sorted(CLICKS))), extra=st.sampled_from(sorted(CLICKS)))
def test_additional_rule_match_never_lowers_the_score(names, extra):
    fewer = fraud.score(ClickFacts(**_merge_facts(CLICKS, names)))

    assert fraud.score(ClickFacts(**_merge_facts(CLICKS, names | {extra}))).score >= fewer.score


@pytest.mark.parametrize(
    ("strictness", "hold", "block"), [("lenient", 70, 95), ("balanced", 50, 80), ("strict", 35, 65)]
)
def test_decision_changes_at_the_thresholds_of_the_strictness(strictness, hold, block):
    decisions = [fraud.decide(score, strictness) for score in range(101)]

    assert decisions == ["pass"] * hold + ["hold"] * (block - hold) + ["block"] * (101 - block)


def test_unknown_strictness_is_refused():
    with pytest.raises(ValueError, match="harsh"):
        fraud.decide(50, "harsh")


@pytest.mark.parametrize(
    ("score", "severity"), [(0, "low"), (49, "low"), (50, "medium"), (79, "medium"), (80, "high"), (100, "high")]
)
def test_severity_follows_the_score(score, severity):
    assert fraud.severity(score) == severity


@pytest.mark.parametrize("strictness", list(fraud.Strictness))
def test_many_clicks_from_one_network_alone_do_not_block(strictness):
    score = fraud.score(ClickFacts(network_clicks=10**18)).score

    assert fraud.decide(score, strictness) != "block"


@pytest.mark.parametrize("strictness", list(fraud.Strictness))
@pytest.mark.parametrize("facts", [LEADS["self_lead"][0], LEADS["daily_cap"][0]])
def test_self_leads_and_leads_over_the_cap_are_blocked(strictness, facts):
    assert fraud.decide(fraud.score(_lead(**facts)).score, strictness) == "block"
