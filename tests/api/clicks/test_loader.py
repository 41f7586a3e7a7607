"""The script of the brands' pages. Source: tracking spec, "Browser lead capture" and what follows."""

import re
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from api.clicks import loader
from domain.clicks import attribution_params
from models import db

URL = "/api/v1/r/loader.js"
_TEMPLATES = Path(loader.__file__).parent.parent / "templates"
# In a process of its own: the minifier is another language's, with threads of its own.
_MINIFY = """
import minify, sys
minify.config({"js-version": 2009})
print(minify.string("text/javascript", sys.stdin.read()), end="")
"""


def _load(app, query="", **headers):
    return app.test_client().get(f"{URL}{query}", headers={name.replace("_", "-"): headers[name] for name in headers})


def _order(answer):
    return re.search(r'"([a-z0-9_,-]+)"\.split\(","\)', answer.text)[1].split(",")


def test_anybody_gets_a_script_that_knows_the_defaults(app):
    answer = _load(app, Origin="https://shop.test")

    assert (answer.status_code, answer.content_type) == (200, "text/javascript; charset=utf-8")
    assert _order(answer) == list(attribution_params.DEFAULTS)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_it_may_be_kept_for_an_hour_and_is_then_asked_for_by_its_tag(app):
    first = _load(app)
    again = _load(app, If_None_Match=first.headers["ETag"])

    assert first.headers["Cache-Control"] == "public, max-age=3600"
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert _load(app, If_None_Match='"another"').status_code == 200


def test_it_is_below_7_kb_and_the_longest_parameters_add_no_more_than_they_are(app, brand):
    assert len(plain := _load(app).data) < 7 * 1024
    program_id = brand.program()
    longest = ",".join(f"{number}-{'x' * 22}" for number in range(10))
    assert brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": longest}).status_code == 200

    assert len(_load(app, f"?programId={program_id}").data) == len(plain) + len(longest) + 1


def test_what_is_served_is_the_source_minified():
    source = (_TEMPLATES / "loader.js").read_bytes()
    made = subprocess.run([sys.executable, "-c", _MINIFY], input=source, capture_output=True, check=True).stdout

    assert (_TEMPLATES / "loader.min.js").read_bytes() == made, "run: make loader"


def test_the_script_of_a_program_knows_its_organizations_parameters_first(app, brand, rival):
    program_id = brand.program()
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref,ref"})

    answer = _load(app, f"?programId={program_id}")

    assert _order(answer) == ["pk_ref", "ref", *[name for name in attribution_params.DEFAULTS if name != "ref"]]
    assert answer.headers["ETag"] != _load(app).headers["ETag"]
    assert _order(_load(app, f"?programId={rival.program()}")) == list(attribution_params.DEFAULTS)


@pytest.mark.parametrize("is_verified", [True, False])
def test_at_a_verified_tracking_domain_it_knows_that_brands_parameters(app, brand, is_verified):
    domain = f"go.{uuid4().hex}.example"
    brand.set(trackingDomain=domain, trackingDomainVerified="on" if is_verified else "off")
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})

    answer = _load(app, Host=f"{domain.upper()}:443")

    assert (_order(answer)[0] == "pk_ref") is is_verified


@pytest.mark.parametrize("host", ["unknown.example", "192.0.2.1", "[::1]:80", "[", "a b", "ünï.example", "", "-"])
def test_any_other_host_gets_the_defaults(app, host):
    assert _order(_load(app, Host=host)) == list(attribution_params.DEFAULTS)


def test_what_could_not_be_a_parameter_is_never_written_into_the_script(app, brand):
    program_id = brand.program()
    brand.rows("update organization set attribution_params = 'ok_1,\");alert(1)//,UP,</script>' returning id")

    assert _order(_load(app, f"?programId={program_id}"))[:2] == ["ok_1", "via"]
    assert "alert" not in _load(app, f"?programId={program_id}").text


def test_a_program_that_nobody_has_is_no_reason_to_go_without(app):
    assert _order(_load(app, f"?programId={uuid4()}")) == list(attribution_params.DEFAULTS)


@pytest.mark.parametrize("program_id", ["17", "null", "%00", "%F0%9F%92%B8", "x" * 5000])
def test_what_is_no_id_is_told_in_problem_details(app, program_id):
    answer = _load(app, f"?programId={program_id}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_without_a_database_the_defaults_are_given_for_a_minute(app, brand, monkeypatch):
    program_id = brand.program()

    def away(*_):
        raise db.UNAVAILABLE[0]

    monkeypatch.setattr(loader.organizations, "any_org_find_params_by_program", away)
    answer = _load(app, f"?programId={program_id}")

    assert (answer.status_code, _order(answer)) == (200, list(attribution_params.DEFAULTS))
    assert answer.headers["Cache-Control"] == "public, max-age=60"
