"""Tokens of old links, fresh slugs, and hosts that are not the brand's."""

import pytest

from domain import slugs
from domain.switches.rules import link_rules


@pytest.mark.parametrize(
    ("token", "normalized"),
    [
        ("Jane", "jane"),
        (" Jane.Doe ", "jane.doe"),
        ("J", "j"),
        ("", None),
        ("   ", None),
        ("x" * 190, "x" * 190),
        ("x" * 191, None),
        ("a\nb", None),
        ("Zoë", "zoë"),
    ],
)
def test_token_is_trimmed_and_lower_case(token, normalized):
    assert link_rules.normalize_token(token) == normalized


@pytest.mark.parametrize(
    ("token", "can_be"),
    [("jane", True), ("jane-doe-3", True), ("jane.doe", False), ("jd", False), ("admin", False), ("12345", False)],
)
def test_valid_unreserved_token_can_be_a_slug(token, can_be):
    assert link_rules.can_be_slug(token) is can_be


def test_fresh_slugs_depend_on_the_arguments_alone():
    def choose(**changes):
        return list(
            link_rules.fresh_slugs(
                **{"token": "Jane.Doe", "name": "Jane", "email": "jane@example.com", "seed": "org"} | changes
            )
        )

    assert choose() == choose()
    assert choose()[0] == "jane-doe"
    assert all(slugs.is_valid(slug) and not slugs.is_reserved(slug) for slug in choose())
    assert not set(choose(token=None, name="")) & set(choose(token=None, name="", email="other@example.com"))


@pytest.mark.parametrize(
    ("url", "is_foreign"),
    [
        ("https://brand.example/?via=jane", False),
        ("https://www.brand.example/?via=jane", False),
        ("https://shop.brand.example/?via=jane", False),
        ("https://brand.partnerlinks.example/x", True),
        ("https://notbrand.example/", True),
        ("refer.short.example/jane", True),
        (None, False),
        ("https://[broken", False),
    ],
)
def test_link_on_another_host_is_foreign(url, is_foreign):
    assert link_rules.is_foreign(url, frozenset({"brand.example"})) is is_foreign


def test_without_a_destination_no_link_is_foreign():
    assert link_rules.is_foreign("https://anywhere.example", frozenset()) is False


def test_parameters_are_added_behind_the_own_ones_until_they_do_not_fit():
    own = ",".join(f"own{number}" for number in range(9))

    plan = link_rules.plan_parameters(own, ["VIA", "rfsn", "sca_ref", "gs pk"])

    assert plan.custom == f"{own},rfsn"
    assert plan.added == ("rfsn",)
    assert plan.not_added == ("sca_ref", "gs pk")
