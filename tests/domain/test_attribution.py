"""Whom a payment credits: the order of the six steps, what each says, and what is kept of it."""

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
SIGNED = Referral(BEN, None)
HISTORY = History(CY, "stripe_customer_history")
LEAD = Lead(UUID(int=90), EVE, NOW - timedelta(days=1), "news")
SIGNUP = Signup(FAY, "mailer")
ALL = {"referral": REFERRAL, "history": HISTORY, "lead": LEAD, "buyer_email": MAIL, "signup": SIGNUP}


def _decide(**facts):
    return decide(Facts(paid_at=NOW, **facts))


def _codes(decision):
    return [step.code for step in decision.steps]


def _without(*names):
    return {name: value for name, value in ALL.items() if name not in names}


@pytest.mark.parametrize(
    ("facts", "winner", "method"),
    [
        (ALL | {"coupon": OVERRIDING}, ANN, "coupon"),
        (_without(), BEN, "stripe_metadata"),
        (_without("referral"), CY, "stripe_customer_history"),
        (_without("referral", "history") | {"coupon": COUPON}, ANN, "coupon"),
        (_without("referral", "history"), EVE, "email_lead_match"),
        (_without("referral", "history", "lead"), FAY, "crm_lookup:mailer"),
        ({"buyer_email": MAIL}, None, None),
        ({}, None, None),
    ],
    ids=["overriding code", "referral", "history", "code", "lead", "platform", "nothing but an e-mail", "nothing"],
)
def test_the_first_step_that_names_somebody_decides(facts, winner, method):
    decision = _decide(**facts)

    assert (decision.affiliate_id, decision.method) == (winner and winner.id, method)
    assert len(decision.steps) == len(STEPS) == 6
    assert decision.uncredited is None


@pytest.mark.parametrize(
    ("facts", "winner", "method"),
    [
        # Rule 1: the owner, whatever else the payment carries.
        ({"coupon": OVERRIDING, "referral": REFERRAL, "history": HISTORY}, ANN, "coupon"),
        ({"coupon": OVERRIDING}, ANN, "coupon"),
        # Rule 2: metadata and history first, the owner when they name nobody.
        ({"coupon": COUPON, "referral": REFERRAL}, BEN, "metadata_or_customer"),
        ({"coupon": COUPON, "history": HISTORY}, CY, "metadata_or_customer"),
        ({"coupon": COUPON}, ANN, "coupon"),
        ({"coupon": COUPON, "lead": LEAD, "buyer_email": MAIL}, ANN, "coupon"),
        # Rule 3: both name the same affiliate.
        ({"coupon": COUPON, "referral": Referral(ANN, "stripe_metadata")}, ANN, "coupon_with_metadata"),
        ({"coupon": COUPON, "history": History(ANN, "stripe_customer_history")}, ANN, "coupon_with_metadata"),
    ],
)
def test_a_redeemed_code_is_weighed_by_its_three_rules(facts, winner, method):
    decision = _decide(**facts)

    assert (decision.affiliate_id, decision.method) == (winner.id, method)


def test_codes_of_other_gateways_keep_the_methods_of_their_gateway():
    code = Coupon(ANN, overrides=False, method="shopify_coupon_code")

    assert _decide(coupon=code).method == "shopify_coupon_code"
    assert _decide(coupon=code, referral=Referral(BEN, "shopify_url_param")).method == "shopify_url_param"
    assert _decide(coupon=code, referral=Referral(ANN, "shopify_url_param")).method == "shopify_url_param"


def test_a_signed_sale_has_no_method():
    decision = _decide(referral=SIGNED)

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
def test_an_affiliate_who_is_not_approved_earns_nothing_and_nobody_else_does(facts, status):
    ((name, named),) = ((name, value) for name, value in facts.items() if name != "buyer_email")
    field = "owner" if name == "coupon" else "affiliate"
    dropped = NamedAffiliate(getattr(named, field).id, str(status))
    later = {"signup": SIGNUP} | facts | {name: type(named)(**_parts(named) | {field: dropped})}

    decision = _decide(**later)

    assert (decision.affiliate_id, decision.method, decision.lead_id) == (None, None, None)
    found = decision.uncredited
    assert (found.affiliate_id, found.affiliate_status, found.reason) == (dropped.id, status, "affiliate_not_active")


def _parts(named):
    return {name: getattr(named, name) for name in type(named).__dataclass_fields__}


@pytest.mark.parametrize(
    ("age", "code"),
    [
        (timedelta(0), "lead_matched"),
        (timedelta(days=90) - timedelta(microseconds=1), "lead_matched"),
        (timedelta(days=90), "lead_too_old"),
        (timedelta(days=-1), "no_lead"),
    ],
)
def test_a_lead_counts_for_ninety_days_before_the_payment(age, code):
    decision = _decide(buyer_email=MAIL, lead=Lead(LEAD.id, EVE, NOW - age))

    assert _codes(decision)[4] == code


def test_lead_of_the_second_of_the_payment_counts_as_before_it():
    paid_at = NOW.replace(microsecond=0)
    same = Lead(LEAD.id, EVE, paid_at + timedelta(microseconds=999_999))
    next_one = Lead(LEAD.id, EVE, paid_at + timedelta(seconds=1))

    assert decide(Facts(paid_at=paid_at, buyer_email=MAIL, lead=same)).affiliate_id == EVE.id
    assert decide(Facts(paid_at=paid_at, buyer_email=MAIL, lead=next_one)).affiliate_id is None


def test_lead_of_an_earlier_customer_credits_nobody_and_falls_through_to_the_platforms():
    late = replace(LEAD, is_after_payment=True)

    assert _codes(_decide(buyer_email=MAIL, lead=late))[4] == "lead_after_payment"
    assert _decide(buyer_email=MAIL, lead=late).affiliate_id is None
    assert _decide(buyer_email=MAIL, lead=late, signup=SIGNUP).affiliate_id == FAY.id


def test_lead_of_an_earlier_customer_is_converted_by_its_affiliates_next_sale():
    late = replace(LEAD, is_after_payment=True)

    assert _decide(buyer_email=MAIL, lead=late, referral=Referral(EVE, None)).lead_id == LEAD.id


def test_a_lead_is_of_no_use_without_the_buyers_email():
    assert _codes(_decide(lead=LEAD))[4] == "no_buyer_email"


@pytest.mark.parametrize(
    ("gateway", "winner"), [(None, FAY.id), ("paddle", FAY.id), ("stripe", EVE.id)], ids=["signed", "paddle", "stripe"]
)
def test_a_lead_never_matches_its_own_affiliate_but_for_the_card_processor(gateway, winner):
    own = Lead(LEAD.id, NamedAffiliate(EVE.id, "Approved", email=MAIL), LEAD.occurred_at, "news")

    decision = _decide(gateway=gateway, buyer_email=MAIL, lead=own, signup=SIGNUP)

    assert decision.affiliate_id == winner
    assert (_codes(decision)[4] == "own_email") == (winner == FAY.id)


def test_a_platform_credits_an_affiliate_who_buys_for_themselves():
    own = Signup(NamedAffiliate(EVE.id, "Approved", email=MAIL), "mailer")

    assert _decide(buyer_email=MAIL, signup=own).affiliate_id == EVE.id


@pytest.mark.parametrize(("own", "inherited"), [(None, "news"), ("own", "own")])
@pytest.mark.parametrize("carried", [None, Referral(EVE, None)], ids=["by its e-mail", "named by the sale"])
def test_a_sale_takes_over_the_tag_of_the_lead_and_converts_it(carried, own, inherited):
    decision = _decide(buyer_email=MAIL, lead=LEAD, referral=carried, sub_id=own)

    assert (decision.affiliate_id, decision.lead_id, decision.sub_id) == (EVE.id, LEAD.id, inherited)


def test_the_lead_of_somebody_else_is_mentioned_and_left_alone():
    decision = _decide(buyer_email=MAIL, lead=LEAD, referral=SIGNED)

    assert (decision.affiliate_id, decision.lead_id, decision.sub_id) == (BEN.id, None, None)
    assert (decision.steps[4].code, decision.steps[4].affiliate_id) == ("lead_of_another_affiliate", EVE.id)


def test_an_affiliate_who_buys_for_themselves_takes_nothing_over_from_their_lead():
    own = Lead(LEAD.id, NamedAffiliate(BEN.id, "Approved", email=MAIL), LEAD.occurred_at, "news")

    decision = _decide(buyer_email=MAIL, lead=own, referral=SIGNED)

    assert (decision.affiliate_id, decision.lead_id, decision.sub_id) == (BEN.id, None, None)
    assert _codes(decision)[4] == "own_email"


_CANDIDATES = st.builds(
    NamedAffiliate,
    id=st.sampled_from([one.id for one in (ANN, BEN, CY)]),
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
def test_at_most_one_step_matches_and_it_is_the_one_that_is_credited(facts):
    decision = decide(facts)

    matched = [line for line in log.read(log.serialize(decision.steps)) if line.outcome == "matched"]
    about = decision.affiliate_id or (decision.uncredited and decision.uncredited.affiliate_id)
    assert [line.affiliate_id for line in matched] == [about] * len(matched)
    assert len(matched) == (about is not None)
    assert not (decision.affiliate_id and decision.uncredited)
    assert decision.method is None or decision.affiliate_id is not None


@given(_FACTS)
def test_what_is_stored_reads_back_as_the_steps(facts):
    decision = decide(facts)

    lines = log.read(log.serialize(decision.steps))

    assert [line.step for line in lines] == [step.name for step in STEPS]
    assert [line.code for line in lines] == _codes(decision)
    assert all(line.detail.endswith(".") for line in lines)


@given(_FACTS)
def test_a_lead_is_converted_only_by_a_sale_of_its_own_affiliate(facts):
    decision = decide(facts)

    if decision.lead_id is not None:
        assert facts.lead.affiliate.id == decision.affiliate_id
        assert facts.buyer_email is not None
    elif facts.sub_id is None:
        assert decision.sub_id is None


def test_codes_are_spelled_once_per_step_and_told_in_sentences():
    for step in STEPS:
        assert step.matches.keys().isdisjoint(step.skips)
        assert all(code.replace("_", "").isalpha() for code in (*step.matches, *step.skips))


_PARENT, _SELLER = UUID(int=70), UUID(int=71)


@pytest.mark.parametrize(
    ("method", "recorded_by", "step", "code", "said"),
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
        ("checkout_door", None, "carried_referral", "named_by_source", "checkout_door"),
    ],
)
def test_what_no_payment_made_has_one_line(method, recorded_by, step, code, said):
    (line,) = origin.explain(
        origin.Origin(ANN.id, method, NOW, parent_id=_PARENT, seller_id=_SELLER, recorded_by=recorded_by)
    )

    assert (line.step, line.outcome, line.code, line.affiliate_id) == (step, "matched", code, ANN.id)
    assert said in line.detail
