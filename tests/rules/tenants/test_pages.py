"""A page that is asked for with the id of another tenant's row shows what it shows for an unknown id."""

import re
from uuid import uuid4

from tests.rules.tenants.full_tenants import NO_ROWS, name_in_path
from tests.rules.tenants.isolation import essence, fingerprint, without_row_security
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import screens

_PROVEN = {"Sec-Fetch-Site": "same-origin"}
# The network is there for the affiliates of every tenant, and so is the form of a program that is open to all.
_EVERYBODYS = ("<listed_id>", "<offer_id>")
_PLAIN = {"seq": "1", "gateway": "stripe", "platform": "kit"}


def _people(app, tenant):
    """Return a browser by kind of person, both of the tenant."""
    operator, people = Operator(app), {"member": Visitor(app), "account": Visitor(app)}
    people["member"].open(operator.json("sign-in", "owner", "--org", tenant.brand.id)["url"])
    people["account"].open(operator.json("sign-in", "affiliate", "--email", tenant.email)["url"])
    return people


def _path(rule, rows):
    """Return the address of a page. Raises KeyError for a kind of row that full_tenants.py does not make."""

    def fill(found):
        name = found[1].split(":")[-1]
        return _PLAIN[name] if name in NO_ROWS else rows[name_in_path(rule, name)]

    return re.sub(r"<([^>]*)>", fill, rule)


def test_page_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    people, before, seen, same = _people(app, mine), fingerprint(theirs.brand.id), 0, set()
    with without_row_security():
        for method in ("GET", "POST"):
            for kind, rule in screens.list_rules(app, method):
                parameters = set(re.findall(r"<(?:\w+:)?(\w+)>", rule)) - NO_ROWS
                if kind == "operator" or not parameters or any(name in rule for name in _EVERYBODYS):
                    continue
                names = {name_in_path(rule, name) for name in parameters}

                def ask(changes, kind=kind, rule=rule, method=method):
                    path = _path(rule, mine.ids | changes)
                    return essence(people[kind].client.open(path, method=method, headers=_PROVEN))

                for changed in [{name} for name in sorted(names)] + [names] * (len(names) > 1):
                    to_nobodys = ask({name: str(uuid4()) for name in changed})
                    assert ask({name: theirs.ids[name] for name in changed}) == to_nobodys, f"{method} {rule} {changed}"
                    seen += 1
                if method == "GET" and ask({}) == to_nobodys:
                    same.add(rule)
    assert seen > 100
    assert same == set()
    assert fingerprint(theirs.brand.id) == before
