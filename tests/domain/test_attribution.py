"""Attribution of a payment: the order of the six steps, their codes, and the stored log."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.attribution import Coupon, Facts, History, Lead, NamedAffiliate, Referral, Signup, decide, log, origin
from domain.attribution.order import STEPS
from domain.statuses import AffiliateStatus

NOW = datetime(2024, 5, 31, 12, tzinfo=UTC)
ANN, BEN, CY, DEE, EVE, FAY = (NamedAffiliate(UUID(int=number), "Approved") for number in range(1, 7))
MAIL = "buyer@example.com"

COUPON = Coupon(ANN, overrides=False)
OVERRIDING = Coupon(ANN, overrides=True)
REFERRAL = Referral(BEN, "stripe_metadata")
SIGNED_REFERRAL = Referral(BEN, None)
HISTORY = History(CY, "stripe_customer_history")
LEAD = Lead(UUID(int=90), EVE, NOW - timedelta(days=1), "news")
SIGNUP = Signup(FAY, "mailer")
ALL = {"referral": REFERRAL, "history": HISTORY, "lead": LEAD, "buyer_email": MAIL, "signup": SIGNUP}


def _decide(**facts):
    return decide(Facts(paid_at=NOW, **facts))


def _codes(decision):
    return [step.code for step in decision.steps]


def _all_facts_except(*names):
    return {name: value for name, value in ALL.items() if name not in names}


@pytest.mark.parametrize(
    ("facts", "winner", "method"),
    [
        (ALL | {"coupon": OVERRIDING}, ANN, "coupon"),
        (_all_facts_except(), BEN, "stripe_metadata"),
        (_all_facts_except("referral"), CY, "stripe_customer_history"),
        (_all_facts_except("referral", "history") | {"coupon": COUPON}, ANN, "coupon"),
        (_all_facts_except("referral", "history"), EVE, "email_lead_match"),
        (_all_facts_except("referral", "history", "lead"), FAY, "crm_lookup:mailer"),
        ({"buyer_email": MAIL}, None, None),
        ({}, None, None),
    ],
    ids=["overriding coupon", "referral", "history", "coupon", "lead", "platform", "email only", "nothing"],
)
def test_first_step_with_an_affiliate_decides(facts, winner, method):
    decision = _decide(**facts)

    assert (decision.affiliate_id, decision.method) == (winner and winner.id, method)
    assert len(decision.steps) == len(STEPS) == 6
    assert decision.uncredited is None


@pytest.mark.parametrize(
    ("facts", "winner", "method"),
    [
        # Rule 1: an overriding coupon credits its owner, regardless of the other facts.
        ({"coupon": OVERRIDING, "referral": REFERRAL, "history": HISTORY}, ANN, "coupon"),
        ({"coupon": OVERRIDING}, ANN, "coupon"),
        # Rule 2: metadata and history come first; without them the owner is credited.
        ({"coupon": COUPON, "referral": REFERRAL}, BEN, "metadata_or_customer"),
        ({"coupon": COUPON, "history": HISTORY}, CY, "metadata_or_customer"),
        ({"coupon": COUPON}, ANN, "coupon"),
        ({"coupon": COUPON, "lead": LEAD, "buyer_email": MAIL}, ANN, "coupon"),
        # Rule 3: the coupon and the metadata or history name the same affiliate.
        ({"coupon": COUPON, "referral": Referral(ANN, "stripe_metadata")}, ANN, "coupon_with_metadata"),
        ({"coupon": COUPON, "history": History(ANN, "stripe_customer_history")}, ANN, "coupon_with_metadata"),
    ],
)
def test_coupon_is_ranked_by_its_three_rules(facts, winner, method):
    decision = _decide(**facts)

    assert (decision.affiliate_id, decision.method) == (winner.id, method)


def test_coupon_of_another_gateway_has_that_gateways_method():
    coupon = Coupon(ANN, overrides=False, method="shopify_coupon_code")

    assert _decide(coupon=coupon).method == "shopify_coupon_code"
    assert _decide(coupon=coupon, referral=Referral(BEN, "shopify_url_param")).method == "shopify_url_param"
    assert _decide(coupon=coupon, referral=Referral(ANN, "shopify_url_param")).method == "shopify_url_param"


def test_sale_with_a_signed_referral_has_no_method():
    decision = _decide(referral=SIGNED_REFERRAL)

    assert (decision.affiliate_id, decision.method) == (BEN.id, None)
    assert _codes(decision) == ["no_coupon", "referral_carried", *["decided_earlier"] * 4]


@pytest.mark.parametrize("status", [status for status in AffiliateStatus if status != "Approved"] + ["Deleted"])
@pytest.mark.parametrize(
    "facts",
    [
        {"coupon": OVERRIDING},
        {"referral": REFERRAL},
        {"history": HISTORY},
        {"coupon": COUPON},
        {"lead": LEAD, "buyer_email": MAIL},
        {"signup": SIGNUP},
    ],
    ids=[step.name for step in STEPS],
)
def test_unapproved_affiliate_leaves_the_sale_uncredited(facts, status):
    ((name, candidate),) = ((name, value) for name, value in facts.items() if name != "buyer_email")
    field = "owner" if name == "coupon" else "affiliate"
    unapproved = NamedAffiliate(getattr(candidate, field).id, str(status))
    all_facts = {"signup": SIGNUP} | facts | {name: type(candidate)(**_field_values(candidate) | {field: unapproved})}

    decision = _decide(**all_facts)

    assert (decision.affiliate_id, decision.method, decision.lead_id) == (None, None, None)
    uncredited = decision.uncredited
    assert (uncredited.affiliate_id, uncredited.affiliate_status, uncredited.reason) == (
        unapproved.id,
        status,
        "affiliate_not_active",
    )


def _field_values(candidate):
    return {name: getattr(candidate, name) for name in type(candidate).__dataclass_fields__}


@pytest.mark.parametrize(
    ("age", "code"),
    [
        (timedelta(0), "lead_matched"),
        (timedelta(days=90) - timedelta(microseconds=1), "lead_matched"),
        (timedelta(days=90), "lead_too_old"),
        (timedelta(days=-1), "no_lead"),
    ],
)
def test_lead_matches_for_90_days_before_the_payment(age, code):
    decision = _decide(buyer_email=MAIL, lead=Lead(LEAD.id, EVE, NOW - age))

    assert _codes(decision)[4] == code


def test_lead_in_the_same_second_as_the_payment_matches():
    paid_at = NOW.replace(microsecond=0)
    same_second = Lead(LEAD.id, EVE, paid_at + timedelta(microseconds=999_999))
    next_second = Lead(LEAD.id, EVE, paid_at + timedelta(seconds=1))

    assert decide(Facts(paid_at=paid_at, buyer_email=MAIL, lead=same_second)).affiliate_id == EVE.id
    assert decide(Facts(paid_at=paid_at, buyer_email=MAIL, lead=next_second)).affiliate_id is None


def test_lead_of_an_earlier_customer_is_skipped_for_the_platform_signup():
    late_lead = replace(LEAD, is_after_payment=True)

    assert _codes(_decide(buyer_email=MAIL, lead=late_lead))[4] == "lead_after_payment"
    assert _decide(buyer_email=MAIL, lead=late_lead).affiliate_id is None
    assert _decide(buyer_email=MAIL, lead=late_lead, signup=SIGNUP).affiliate_id == FAY.id


def test_lead_of_an_earlier_customer_is_converted_by_a_sale_of_its_affiliate():
    late_lead = replace(LEAD, is_after_payment=True)

    assert _decide(buyer_email=MAIL, lead=late_lead, referral=Referral(EVE, None)).lead_id == LEAD.id


def test_lead_does_not_match_without_the_buyers_email():
    assert _codes(_decide(lead=LEAD))[4] == "no_buyer_email"


@pytest.mark.parametrize(
    ("gateway", "winner"), [(None, FAY.id), ("paddle", FAY.id), ("stripe", EVE.id)], ids=["signed", "paddle", "stripe"]
)
def test_lead_of_the_buyer_as_affiliate_matches_only_for_stripe(gateway, winner):
    own_lead = Lead(LEAD.id, NamedAffiliate(EVE.id, "Approved", email=MAIL), LEAD.occurred_at, "news")

    decision = _decide(gateway=gateway, buyer_email=MAIL, lead=own_lead, signup=SIGNUP)

    assert decision.affiliate_id == winner
    assert (_codes(decision)[4] == "own_email") == (winner == FAY.id)


def test_platform_signup_credits_the_affiliate_as_buyer():
    own_signup = Signup(NamedAffiliate(EVE.id, "Approved", email=MAIL), "mailer")

    assert _decide(buyer_email=MAIL, signup=own_signup).affiliate_id == EVE.id


@pytest.mark.parametrize(("own_sub_id", "expected"), [(None, "news"), ("own", "own")])
@pytest.mark.parametrize("referral", [None, Referral(EVE, None)], ids=["by email", "by referral"])
def test_sale_inherits_the_sub_id_of_the_lead_and_converts_it(referral, own_sub_id, expected):
    decision = _decide(buyer_email=MAIL, lead=LEAD, referral=referral, sub_id=own_sub_id)

    assert (decision.affiliate_id, decision.lead_id, decision.sub_id) == (EVE.id, LEAD.id, expected)


def test_lead_of_another_affiliate_is_logged_and_not_converted():
    decision = _decide(buyer_email=MAIL, lead=LEAD, referral=SIGNED_REFERRAL)

    assert (decision.affiliate_id, decision.lead_id, decision.sub_id) == (BEN.id, None, None)
    assert (decision.steps[4].code, decision.steps[4].affiliate_id) == ("lead_of_another_affiliate", EVE.id)


def test_affiliate_as_buyer_inherits_nothing_from_their_own_lead():
    own_lead = Lead(LEAD.id, NamedAffiliate(BEN.id, "Approved", email=MAIL), LEAD.occurred_at, "news")

    decision = _decide(buyer_email=MAIL, lead=own_lead, referral=SIGNED_REFERRAL)

    assert (decision.affiliate_id, decision.lead_id, decision.sub_id) == (BEN.id, None, None)
    assert _codes(decision)[4] == "own_email"


_CANDIDATES = st.builds(
    NamedAffiliate,
    id=st.sampled_from([affiliate.id for affiliate in (ANN, BEN, CY)]),
    status=st.sampled_from(["Approved", "Approved", "Paused", "Deleted"]),
    email=st.sampled_from([None, MAIL, "other@example.com"]),
)
_FACTS = st.builds(
    Facts,
    paid_at=st.just(NOW),
    gateway=st.sampled_from([None, "stripe", "paddle"]),
    buyer_email=st.sampled_from([None, MAIL]),
    sub_id=st.sampled_from([None, "own"]),
    coupon=st.none() | st.builds(Coupon, _CANDIDATES, st.booleans()),
    referral=st.none() | st.builds(Referral, _CANDIDATES, st.sampled_from([None, "stripe_metadata"])),
    history=st.none() | st.builds(History, _CANDIDATES, st.just("stripe_customer_history")),
    lead=st.none()
    | st.builds(
        Lead,
        id=st.uuids(),
        affiliate=_CANDIDATES,
        occurred_at=st.integers(-1, 100).map(lambda days: NOW - timedelta(days=days)),
        sub_id=st.sampled_from([None, "news"]),
    ),
    signup=st.none() | st.builds(Signup, _CANDIDATES, st.just("mailer")),
)


@given(_FACTS)
def test_only_the_credited_step_matches(facts):
    decision = decide(facts)

    matched = [line for line in log.read(log.serialize(decision.steps)) if line.outcome == "matched"]
    expected_id = decision.affiliate_id or (decision.uncredited and decision.uncredited.affiliate_id)
    assert [line.affiliate_id for line in matched] == [expected_id] * len(matched)
    assert len(matched) == (expected_id is not None)
    assert not (decision.affiliate_id and decision.uncredited)
    assert decision.method is None or decision.affiliate_id is not None


@given(_FACTS)
def test_stored_log_reads_back_as_the_steps(facts):
    decision = decide(facts)

    lines = log.read(log.serialize(decision.steps))

    assert [line.step for line in lines] == [step.name for step in STEPS]
    assert [line.code for line in lines] == _codes(decision)
    assert all(line.detail.endswith(".") for line in lines)


@given(_FACTS)
def test_lead_is_converted_only_by_a_sale_of_its_affiliate(facts):
    decision = decide(facts)

    if decision.lead_id is not None:
        assert facts.lead.affiliate.id == decision.affiliate_id
        assert facts.buyer_email is not None
    elif facts.sub_id is None:
        assert decision.sub_id is None


def test_step_codes_are_unique_and_alphabetic():
    for step in STEPS:
        assert step.matches.keys().isdisjoint(step.skips)
        assert all(code.replace("_", "").isalpha() for code in (*step.matches, *step.skips))


_PARENT, _SELLER = UUID(int=70), UUID(int=71)


@pytest.mark.parametrize(
    ("method", "recorded_by", "step", "code", "text"),
    [
        ("manual", "api_key", "manual", "recorded_with_key", "API key"),
        ("manual", "oauth", "manual", "recorded_by_agent", "a program that a person authorized"),
        ("manual", "member", "manual", "recorded_by_member", "dashboard"),
        ("manual", None, "manual", "recorded_by_hand", "by hand"),
        ("historical_import:rewardful", None, "import", "imported", "Imported from rewardful;"),
        ("historical_import", None, "import", "imported", "Imported from another service;"),
        ("sub_affiliate_override", None, "override", "recruit_sold", f"recruited {_SELLER}"),
        ("cpc_aggregation", None, "click", "clicks_counted", "link"),
        ("lead_signup", None, "lead", "lead_signed_up", "signed up"),
        ("lead_form", None, "lead", "lead_form_sent", "lead form"),
        ("checkout_door", None, "carried_referral", "named_by_source", "source of the conversion"),
    ],
)
def test_conversion_without_a_payment_has_one_log_line(method, recorded_by, step, code, text):
    (line,) = origin.explain(
        origin.Origin(ANN.id, method, NOW, parent_id=_PARENT, seller_id=_SELLER, recorded_by=recorded_by)
    )

    assert (line.step, line.outcome, line.code, line.affiliate_id) == (step, "matched", code, ANN.id)
    assert text in line.detail
