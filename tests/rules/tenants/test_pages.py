"""A page requested with the id of another tenant's row is the same as for an unknown id."""

import re
from uuid import uuid4

from tests.rules.tenants.full_tenants import NO_ROWS, row_name_of_parameter
from tests.rules.tenants.isolation import hash_rows, without_ids, without_row_security
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import screens

_SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
# The network and the form of an open program are for the affiliates of every tenant.
_SHARED_PARAMETERS = ("<listed_id>", "<offer_id>")
_VALUE_BY_PARAMETER = {"seq": "1", "gateway": "stripe", "platform": "kit"}


def _open_browsers(app, tenant):
    """Return a browser of a member and one of an affiliate of the tenant, by kind."""
    operator, people = Operator(app), {"member": Visitor(app), "account": Visitor(app)}
    people["member"].open(operator.json("sign-in", "owner", "--org", tenant.brand.id)["url"])
    people["account"].open(operator.json("sign-in", "affiliate", "--email", tenant.email)["url"])
    return people


def _fill_path(rule, rows):
    """Return the address of a page. Raises KeyError for a kind of row that full_tenants.py does not create."""

    def fill(match):
        name = match[1].split(":")[-1]
        return _VALUE_BY_PARAMETER[name] if name in NO_ROWS else rows[row_name_of_parameter(rule, name)]

    return re.sub(r"<([^>]*)>", fill, rule)


def test_page_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    people, before, seen, same = _open_browsers(app, mine), hash_rows(theirs.brand.id), 0, set()
    with without_row_security():
        for method in ("GET", "POST"):
            for kind, rule in screens.list_rules(app, method):
                parameters = set(re.findall(r"<(?:\w+:)?(\w+)>", rule)) - NO_ROWS
                if kind == "operator" or not parameters or any(name in rule for name in _SHARED_PARAMETERS):
                    continue
                names = {row_name_of_parameter(rule, name) for name in parameters}

                def request(changes, kind=kind, rule=rule, method=method):
                    path = _fill_path(rule, mine.ids | changes)
                    return without_ids(people[kind].client.open(path, method=method, headers=_SAME_ORIGIN))

                for changed in [{name} for name in sorted(names)] + [names] * (len(names) > 1):
                    for_unknown = request({name: str(uuid4()) for name in changed})
                    for_theirs = request({name: theirs.ids[name] for name in changed})
                    assert for_theirs == for_unknown, f"{method} {rule} {changed}"
                    seen += 1
                if method == "GET" and request({}) == for_unknown:
                    same.add(rule)
    assert seen > 100
    assert same == set()
    assert hash_rows(theirs.brand.id) == before
