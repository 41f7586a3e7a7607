"""Affiliates, links and codes of a switch."""

from decimal import Decimal

import pytest

from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    SourceCode,
    SourceGroup,
)
from tests.support.rows.brands import Brand
from tests.support.switches.scene import SwitchScene
from tests.support.switches.source_records import build_affiliate, build_commission, build_customer, build_link


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program(referral_destination_url="https://brand.example/")
    return SwitchScene.create(
        brand, monkeypatch, campaigns={"main": brand.programs[-1], "second": brand.programs[-1], "left": None}
    )


def test_odd_affiliates_have_their_reasons(scene):
    scene.read(
        "affiliates",
        [
            build_affiliate("ann"),
            build_affiliate("none", email=None),
            build_affiliate("bad", email="no address"),
            build_affiliate("left", campaign="left"),
            build_affiliate("odd", problem=LeftOutReason.UnreadableRow),
        ],
    )

    scene.judge()

    assert scene.reasons("affiliates") == {
        "ann": None,
        "none": "no_email",
        "bad": "invalid_email",
        "left": "campaign_not_mapped",
        "odd": "unreadable_row",
    }


def test_person_in_two_campaigns_of_one_program_is_one_affiliate_with_the_best_status(scene):
    scene.read(
        "affiliates",
        [
            build_affiliate("a1", email="Ann@Example.com", status=AffiliateStatus.Rejected),
            build_affiliate("a2", email="ann@example.com", campaign="second", status=AffiliateStatus.Pending),
        ],
    )

    scene.judge()

    assert scene.verdicts("affiliates") == {"a1": "new", "a2": "merged"}
    rows = scene.rows("affiliates")
    assert rows["a1"].target_id == rows["a2"].target_id
    decision = scene.decisions("affiliates")["a1"]
    assert (decision["email"], decision["status"]) == ("ann@example.com", "Pending")


def test_affiliate_who_is_here_already_is_merged(scene):
    affiliate_id = scene.brand.affiliate("ann", status="Paused")
    scene.read("affiliates", [build_affiliate("a1", email="ann@example.com")])
    scene.read("commissions", [build_commission("c1", affiliate="a1")])

    scene.judge()

    assert scene.verdicts("affiliates") == {"a1": "merged"}
    assert scene.rows("affiliates")["a1"].target_id == affiliate_id
    assert scene.decisions("commissions")["c1"]["affiliate_id"] == str(affiliate_id)


def test_person_named_by_a_commission_only_is_rejected_and_has_no_link(scene):
    ref = AffiliateRef(email="Gone@example.com", name="Gone")
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read("commissions", [build_commission("c1", affiliate=ref), build_commission("c2", affiliate=ref)])

    preview = scene.judge()

    (decision,) = [row for row in scene.decisions("affiliates").values() if row["email"] == "gone@example.com"]
    assert (decision["status"], decision["link_id"], decision["slug"]) == ("Rejected", None, None)
    assert set(scene.reasons("commissions").values()) == {None}
    assert preview["counts"]["affiliates"]["read"] == 2


def test_unknown_word_of_an_affiliate_is_pending_with_a_warning(scene):
    scene.read("affiliates", [build_affiliate("ann", status=None, word="mystery", has_recruiter=True)])

    preview = scene.judge()

    assert scene.decisions("affiliates")["ann"]["status"] == "Pending"
    assert {(row["code"], row["count"], row["example"]) for row in preview["warnings"]} == {
        ("unknown_status", 1, "ann"),
        ("recruits_not_brought", 1, "ann"),
    }


@pytest.mark.parametrize(
    ("groups", "tags", "group"),
    [("tag", ["Gold"], None), ("group", [], ("Gold", "Percentage", "25")), ("none", [], None)],
)
def test_group_becomes_a_tag_or_a_partner_group(scene, groups, tags, group):
    scene.change(options={"groups": groups})
    scene.read("affiliates", [build_affiliate("ann", group=SourceGroup("Gold", "Percentage", Decimal(25)))])

    scene.judge()

    decision = scene.decisions("affiliates")["ann"]
    assert decision["tags"] == tags
    chosen_group = decision["group_name"] and (decision["group_name"], decision["group_type"], decision["group_value"])
    assert chosen_group == group


@pytest.mark.parametrize("value", [None, Decimal(101), Decimal("1e14"), Decimal(-1)])
def test_group_without_a_possible_rate_stays_a_tag(scene, value):
    scene.change(options={"groups": "group"})
    group = SourceGroup("Gold", value if value is None else "Percentage", value)
    scene.read("affiliates", [build_affiliate("ann", group=group)])

    scene.judge()

    assert scene.decisions("affiliates")["ann"]["tags"] == ["Gold"]


def test_options_leave_out_statuses_and_people_without_referrals(scene):
    scene.change(options={"include_statuses": ["Approved"], "without_referrals": False})
    scene.read(
        "affiliates",
        [
            build_affiliate("ann"),
            build_affiliate("bob"),
            build_affiliate("cyd", status=AffiliateStatus.Pending),
            build_affiliate("dee"),
        ],
    )
    scene.read("customers", [build_customer("u1", affiliate=AffiliateRef(id="bob"), email="x@example.com")])
    scene.read("commissions", [build_commission("c1"), build_commission("c2", affiliate=AffiliateRef(id="cyd"))])

    scene.judge()

    assert scene.reasons("affiliates") == {
        "ann": None,
        "bob": None,
        "cyd": "status_excluded",
        "dee": "status_excluded",
    }
    assert scene.reasons("commissions") == {"c1": None, "c2": "affiliate_unknown"}


def test_wallet_email_comes_over_if_it_is_an_address(scene):
    scene.read(
        "affiliates",
        [build_affiliate("ann", wallet_email="Ann@Pay.example"), build_affiliate("bob", wallet_email="none")],
    )

    scene.judge()

    wallets = {name: decision["wallet_email"] for name, decision in scene.decisions("affiliates").items()}
    assert wallets == {"ann": "ann@pay.example", "bob": None}


def test_first_link_is_the_default_and_other_tokens_lead_to_the_affiliate(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "links",
        [build_link("l1", "Second", place=1), build_link("l2", "Ann-K", place=0), build_link("l3", "ann.k", place=2)],
    )

    scene.judge()

    affiliate = scene.decisions("affiliates")["ann"]
    links = scene.decisions("links")
    assert affiliate["slug"] == "ann-k"
    assert (links["l2"]["slug"], links["l2"]["old_token"], links["l2"]["link_id"]) == (None, None, affiliate["link_id"])
    assert (links["l1"]["slug"], links["l1"]["old_token"]) == ("second", None)
    assert links["l1"]["link_id"] != affiliate["link_id"]
    old = (links["l3"]["slug"], links["l3"]["old_token"], links["l3"]["link_id"])
    assert old == (None, "ann.k", affiliate["link_id"])


@pytest.mark.parametrize("token", ["A", "ann.k", "zoë", "admin", "4711", "x" * 190])
def test_token_that_cannot_be_a_slug_is_kept_beside_a_fresh_one(scene, token):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read("links", [build_link("l1", token)])

    scene.judge()

    slug = scene.decisions("affiliates")["ann"]["slug"]
    assert slug
    assert slug != token.lower()
    assert scene.decisions("links")["l1"]["old_token"] == token.lower()


def test_token_of_another_affiliate_stays_theirs(scene):
    scene.brand.affiliate("taken")
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])
    scene.read(
        "links",
        [
            build_link("l1", "taken"),
            build_link("l2", "Both", affiliate="ann"),
            build_link("l3", "both", affiliate="bob"),
            build_link("l4", "x" * 191),
        ],
    )

    scene.judge()

    assert scene.reasons("links") == {"l1": "slug_taken", "l2": None, "l3": "slug_taken", "l4": "unreadable_row"}
    decided_rows = scene.decisions("affiliates")
    assert decided_rows["ann"]["slug"] == "both"
    assert decided_rows["bob"]["slug"] not in {"both", "taken", None}


def test_slugs_are_the_same_when_judged_again_and_no_two_people_share_one(scene):
    people = [build_affiliate(f"p{number}", full_name="Ann Kay") for number in range(12)]
    scene.read("affiliates", people)

    scene.judge()
    first = {name: decision["slug"] for name, decision in scene.decisions("affiliates").items()}
    scene.judge_again()
    second = {name: decision["slug"] for name, decision in scene.decisions("affiliates").items()}

    assert first == second
    assert len(set(first.values())) == len(people)


def test_token_of_a_merged_affiliate_is_known_or_new(scene):
    scene.brand.affiliate("ann")
    scene.read("affiliates", [build_affiliate("a1", email="ann@example.com")])
    scene.read("links", [build_link("l1", "Ann", affiliate="a1"), build_link("l2", "ann-2", affiliate="a1")])

    scene.judge()

    assert scene.verdicts("links") == {"l1": "known", "l2": "new"}
    assert scene.decisions("links")["l2"]["slug"] == "ann-2"


def test_link_on_a_foreign_host_is_a_warning(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "links",
        [
            build_link("l1", "one", url="https://brand.example/?via=one"),
            build_link("l2", "two", url="https://old.example/two"),
        ],
    )

    preview = scene.judge()

    assert preview["warnings"] == [{"code": "links_on_foreign_host", "count": 1, "example": "l2"}]


def test_codes_come_over_in_upper_case_unless_archived_or_taken(scene):
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])

    def code(source_id: str, text: str, affiliate: str = "ann", **fields) -> SourceCode:
        return SourceCode(source_id, AffiliateRef(id=affiliate), text, **fields)

    scene.read(
        "codes",
        [
            code("k1", "ann10"),
            code("k2", "old", is_archived=True),
            code("k3", "ANN10", "bob"),
            code("k4", "ann10"),
            code("k5", "no spaces"),
            code("k6", "gone", "nobody"),
        ],
    )

    scene.judge()

    assert scene.reasons("codes") == {
        "k1": None,
        "k2": "code_archived",
        "k3": "code_taken",
        "k4": None,
        "k5": "unreadable_row",
        "k6": "affiliate_unknown",
    }
    assert scene.verdicts("codes")["k4"] == "merged"
    assert scene.decisions("codes")["k1"]["code"] == "ANN10"
