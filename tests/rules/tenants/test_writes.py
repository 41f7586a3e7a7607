"""A write with the id of another tenant's row gets the answer of an unknown id and changes nothing.

The calls are those of tests/rules/test_audit.py, which has one for every route: each names rows that are there, so the
same call succeeds for the tenant whose rows they are.
"""

import json

import pytest

from tests.rules.tenants.isolation import count_ids, essence, fingerprint, id_fields, replace_ids, without_row_security
from tests.rules.tenants.named_rows import MORE
from tests.rules.test_audit import CALLS

# A workflow that is switched off twice does not fail; of many that are named those that are not there are skipped.
_SUCCEEDS_ALWAYS = {
    "DELETE /api/v1/automation/hooks/<hook_id>",
    "POST /api/v1/affiliates/bulk-action",
    "POST /api/affiliates/bulk/approve",
    "POST /api/affiliates/bulk/pause",
}


def _operations(app):
    return {
        f"{method} {rule.rule}": app.view_functions[rule.endpoint].operation
        for rule in app.url_map.iter_rules()
        for method in rule.methods
    }


@pytest.mark.usefixtures("played_services")
@pytest.mark.parametrize("route", CALLS)
def test_write_with_another_tenants_id_answers_like_unknown_id(app, brand, rival, route):
    operation = _operations(app)[route]
    named = set(id_fields(operation.takes))
    if "_id>" not in route and not named:
        return
    make = MORE.get(route, CALLS[route])
    method, owner = route.partition(" ")[0], brand.person("Owner")
    theirs, own = make(rival.person("Owner")), make(owner)
    count = count_ids(own)
    assert count == count_ids(theirs) > 0
    assert {name for name in named if f'"{name}"' not in json.dumps(own[1], default=str)} == set()
    callers = [owner] if operation.guard.audience == "dashboard" else [owner, brand]
    # Afterwards their row is one for which the call is refused: a lost filter would answer so, and not as for none.
    for is_done in (False, True):
        if is_done:
            rival.person("Owner").call(method, *replace_ids(theirs, set()))
        before = fingerprint(rival.id)
        with without_row_security():
            for places in [{place} for place in range(count)] + [set(range(count))] * (count > 1):
                for caller in callers:
                    to_theirs = caller.call(method, *replace_ids(own, places, theirs))
                    to_nobodys = caller.call(method, *replace_ids(own, places))
                    assert essence(to_theirs) == essence(to_nobodys), f"{route}: {places} {is_done}"
                    assert to_theirs.status_code >= 400 or route in _SUCCEEDS_ALWAYS, f"{route}: {to_theirs.text}"
        assert fingerprint(rival.id) == before
    done = owner.call(method, *replace_ids(own, set()))
    assert done.status_code < 300, f"the call that names its own rows succeeds: {done.text}"
