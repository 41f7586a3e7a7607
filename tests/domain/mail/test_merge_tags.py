"""Rendering of merge tags. Source: core spec, "Affiliate invites", invite rules."""

from decimal import Decimal

import pytest

from domain.mail import merge_tags

_VALUES = {"affiliate.firstName": "Ada", "program.commission": "20 %", "brand.name": "Acme"}


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("Hello {{affiliate.firstName}}, {{brand.name}} pays {{program.commission}}", "Hello Ada, Acme pays 20 %"),
        ("{{ brand.name }}{{brand.name   }}{{\tbrand.name\n}}", "AcmeAcmeAcme"),
        ("{{brand.logo}} {{ nobody }} {{}} {{1}}", "{{brand.logo}} {{ nobody }} {{}} {{1}}"),
        ("{{Brand.Name}}", "{{Brand.Name}}"),
        ("{brand.name} {{brand.name} {{brand.name", "{brand.name} {{brand.name} {{brand.name"),
        ("{{{brand.name}}}", "{Acme}"),
        ("", ""),
    ],
)
def test_known_tags_are_replaced_and_unknown_ones_stay(text, rendered):
    assert merge_tags.render(text, _VALUES) == rendered


def test_tag_inside_a_value_is_not_replaced():
    values = {"brand.name": "{{affiliate.firstName}}", "affiliate.firstName": "Ada"}

    assert merge_tags.render("{{brand.name}}", values) == "{{affiliate.firstName}}"


def test_backslash_in_a_value_stays_literal():
    assert merge_tags.render("{{brand.name}}", {"brand.name": r"\1 \g<0>"}) == r"\1 \g<0>"


@pytest.mark.parametrize(
    ("full_name", "first"), [("Ada Lovelace", "Ada"), ("  Ada ", "Ada"), ("", "there"), (" ", "there"), ("王 芳", "王")]
)
def test_first_name_is_the_first_word(full_name, first):
    assert merge_tags.first_name(full_name) == first


@pytest.mark.parametrize(
    ("type", "value", "model", "currency", "words"),
    [
        ("Percentage", "20", "Cps", "USD", "20 %"),
        ("Percentage", "20.000000", "RevShare", "USD", "20 %"),
        ("Percentage", "12.5", "Cps", "USD", "12.5 %"),
        ("Percentage", "0", "Cps", "USD", "0 %"),
        ("Percentage", "100", "Cps", "USD", "100 %"),
        ("Fixed", "15", "Cps", "USD", "15 USD per sale"),
        ("Fixed", "15.500000", "Cps", "USD", "15.50 USD per sale"),
        ("Fixed", "1000000", "Hybrid", "EUR", "1000000 EUR per sale"),
        ("Fixed", "0.5", "Cpc", "USD", "0.50 USD per click"),
        ("Fixed", "0.005", "Cpc", "USD", "0.005 USD per click"),
        ("Fixed", "3", "Cpl", "JPY", "3 JPY per lead"),
        ("Fixed", "3.5", "Cpl", "KWD", "3.500 KWD per lead"),
    ],
)
def test_commission_is_formatted_with_its_unit(type, value, model, currency, words):
    assert merge_tags.format_commission(type=type, value=Decimal(value), model=model, currency=currency) == words
