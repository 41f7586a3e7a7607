"""No screen for brands or affiliates shows codes, names of fields, ISO dates or hashes to people.

Texts to copy are in `code`, `pre`, `samp` or a read-only field.
"""

import re

import pytest

from tests.pages import test_sweeps
from tests.support.pages import screens

_isolated_database, full_brand, operator = test_sweeps._isolated_database, test_sweeps.full_brand, test_sweeps.operator
# Texts to copy, and pictures.
_COPIED = re.compile(r"<(script|style|svg|pre|textarea|code|samp|title)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_CODE = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z]+)+|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9a-f]{40,})\b")
# The last characters of a key, which are random.
_END_OF_KEY = re.compile(r"…[\w-]{4}(?![\w-])")
# Ids of other services, which people compare with what they see there.
_FOREIGN_ID = re.compile(r"(?:acct|co|evt|sandbox)_")
# On the pages of webhooks: the type of an event, which the receiving program compares.
_EVENT_TYPE = re.compile(r"\b[a-z_]+\.[a-z_]+\b")
# The values in the audit log are those of the API: one searches for them.
_WITH_VALUES = "/dashboard/audit-log"
_WEBHOOKS = "/dashboard/webhooks"


def test_screens_show_no_codes(app, operator, full_brand):
    people, rules_by_code = test_sweeps._people(app, operator, full_brand), {}
    for kind, rule in screens.list_rules(app, "GET"):
        if kind == "operator" or rule == _WITH_VALUES:
            continue
        answer = people[kind].open(screens.build_address(rule, full_brand.names))
        if answer.mimetype == "text/html":
            text = _END_OF_KEY.sub(" ", _TAG.sub(" ", _COPIED.sub(" ", answer.text)))
            for code in _CODE.findall(_EVENT_TYPE.sub("", text) if rule.startswith(_WEBHOOKS) else text):
                if not _FOREIGN_ID.match(code):
                    rules_by_code.setdefault(code, set()).add(rule)

    assert rules_by_code == {}


@pytest.mark.parametrize("end", ["xIwc", "-aBc", "a_b0"])
def test_end_of_a_key_is_no_code(end):
    assert _CODE.findall(f"ff_live_…{end}") != []
    assert _CODE.findall(_END_OF_KEY.sub(" ", f"ff_live_…{end}")) == []


@pytest.mark.parametrize("code", ["metadata_or_customer", "amountCents", "2026-11-28", "ab" * 32])
def test_codes_are_found(code):
    assert _CODE.findall(f"It is {code}.") == [code]
