"""A write with the id of another tenant's row gets the same response as one with an unknown id and changes nothing.

tests/rules/write_calls.py has a call of every route: each names existing rows, so it succeeds for their own tenant.
"""

import json

import pytest

from tests.rules.tenants.isolation import (
    count_ids,
    hash_rows,
    id_fields,
    replace_ids,
    without_ids,
    without_row_security,
)
from tests.rules.tenants.named_rows import CALLS_WITH_ROWS
from tests.rules.write_calls import CALLS

# Deleting an unknown automation hook succeeds; bulk operations skip unknown ids.
_ALWAYS_SUCCESSFUL = {
    "DELETE /api/v1/automation/hooks/<hook_id>",
    "POST /api/v1/affiliates/bulk-action",
    "POST /api/affiliates/bulk",
    "POST /api/affiliates/bulk/approve",
    "POST /api/affiliates/bulk/pause",
}


def _map_operations(app):
    return {
        f"{method} {rule.rule}": app.view_functions[rule.endpoint].operation
        for rule in app.url_map.iter_rules()
        for method in rule.methods
    }


@pytest.mark.usefixtures("simulated_services")
@pytest.mark.parametrize("route", CALLS)
def test_write_with_another_tenants_id_answers_like_unknown_id(app, brand, rival, route):
    operation = _map_operations(app)[route]
    fields = set(id_fields(operation.takes))
    if "_id>" not in route and not fields:
        return
    build_call = CALLS_WITH_ROWS.get(route, CALLS[route])
    method, owner = route.partition(" ")[0], brand.person("Owner")
    theirs, own = build_call(rival.person("Owner")), build_call(owner)
    count = count_ids(own)
    assert count == count_ids(theirs) > 0
    assert {name for name in fields if f'"{name}"' not in json.dumps(own[1], default=str)} == set()
    callers = [owner] if operation.guard.audience == "dashboard" else [owner, brand]
    # Afterwards the call is refused for their row: without a filter the response would be that refusal, not a 404.
    for is_done in (False, True):
        if is_done:
            rival.person("Owner").call(method, *replace_ids(theirs, set()))
        before = hash_rows(rival.id)
        with without_row_security():
            for positions in [{position} for position in range(count)] + [set(range(count))] * (count > 1):
                for caller in callers:
                    for_theirs = caller.call(method, *replace_ids(own, positions, theirs))
                    for_unknown = caller.call(method, *replace_ids(own, positions))
                    assert without_ids(for_theirs) == without_ids(for_unknown), f"{route}: {positions} {is_done}"
                    assert for_theirs.status_code >= 400 or route in _ALWAYS_SUCCESSFUL, f"{route}: {for_theirs.text}"
        assert hash_rows(rival.id) == before
    response = owner.call(method, *replace_ids(own, set()))
    assert response.status_code < 300, f"the call that names its own rows succeeds: {response.text}"
