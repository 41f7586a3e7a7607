"""The sub-affiliate setting of a program, through HTTP."""

from decimal import Decimal

import pytest

from tests.support.rows.brands import Brand

URL = "/api/v1/programs"


def _url(program_id):
    return f"{URL}/{program_id}/sub-affiliate-config"


def test_recruiting_is_off_by_default(brand):
    assert brand.get(_url(brand.program())).json == {"enabled": False, "percent": 0}


@pytest.mark.parametrize(("percent", "returned"), [(10, 10), (12.5, 12.5), (0.0001, 0.0001), (100, 100), (7.0, 7)])
def test_setting_is_stored_returned_and_audited(brand, percent, returned):
    program_id = brand.program(sub_affiliate_percent=Decimal("2.5"))

    answer = brand.call("PUT", _url(program_id), {"enabled": True, "percent": percent})

    assert (answer.status_code, answer.json) == (200, {"enabled": True, "percent": returned})
    assert isinstance(answer.json["percent"], type(returned))
    assert brand.get(_url(program_id)).json == answer.json
    assert brand.rows("select action, entity_id, before, after from audit_entry") == [
        (
            "program.sub_affiliate_config_changed",
            str(program_id),
            {"enabled": False, "percent": 2.5},
            {"enabled": True, "percent": returned},
        )
    ]


def test_percent_is_stored_while_the_setting_is_off(brand):
    program_id = brand.program()

    brand.call("PUT", _url(program_id), {"enabled": False, "percent": 30})

    assert brand.get(_url(program_id)).json == {"enabled": False, "percent": 30}


@pytest.mark.parametrize("raw", [b"", b"{}", b"null"])
def test_missing_body_returns_body_required(brand, raw):
    answer = brand.call("PUT", _url(brand.program()), raw)

    assert (answer.status_code, answer.json["error"]) == (400, "body_required")


@pytest.mark.parametrize("percent", [-0.1, 100.1, "10", None, True, [], 0.00001, 10**18, 1e300])
def test_invalid_percent_is_refused(brand, percent):
    program_id = brand.program()

    answer = brand.call("PUT", _url(program_id), {"enabled": True, "percent": percent})

    assert (answer.status_code, answer.json["error"]) == (400, "unsupported_value")
    assert brand.get(_url(program_id)).json == {"enabled": False, "percent": 0}


@pytest.mark.parametrize("enabled", ["true", 1, None])
def test_non_boolean_enabled_is_refused(brand, enabled):
    answer = brand.call("PUT", _url(brand.program()), {"enabled": enabled, "percent": 1})

    assert (answer.status_code, answer.json["error"]) == (400, "unsupported_value")


@pytest.mark.parametrize("program", ["other tenant's", "unknown", "malformed"])
def test_other_tenants_or_unknown_program_returns_an_empty_404(brand, rival, program):
    ids = {"other tenant's": rival.program(), "unknown": "01890000-0000-7000-8000-000000000000", "malformed": "x"}

    read = brand.get(_url(ids[program]))
    changed = brand.call("PUT", _url(ids[program]), {"enabled": True, "percent": 5})

    assert (read.status_code, read.data) == (404, b"")
    assert (changed.status_code, changed.data) == (404, b"")
    assert rival.rows("select sub_affiliate_enabled from program") == [(False,)]


def test_setting_needs_a_write_key_but_no_paid_plan(app, brand):
    free = Brand.create(app, plan="Free")
    program_id = free.program()
    reader = brand.other_key(scope="read")

    assert free.call("PUT", _url(program_id), {"enabled": True, "percent": 5}).status_code == 200
    assert reader.get(_url(brand.program())).status_code == 200
    assert reader.call("PUT", _url(brand.program()), {"enabled": True, "percent": 5}).status_code == 403
