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
# In a separate process: the minifier is native code that starts its own threads.
_MINIFY = """
import minify, sys
minify.config({"js-version": 2009})
print(minify.string("text/javascript", sys.stdin.read()), end="")
"""


def _get_script(app, query="", **headers):
    return app.test_client().get(f"{URL}{query}", headers={name.replace("_", "-"): headers[name] for name in headers})


def _order(answer):
    return re.search(r'"([a-z0-9_,-]+)"\.split\(","\)', answer.text)[1].split(",")


def test_script_is_public_and_contains_the_defaults(app):
    answer = _get_script(app, Origin="https://shop.test")

    assert (answer.status_code, answer.content_type) == (200, "text/javascript; charset=utf-8")
    assert _order(answer) == list(attribution_params.DEFAULTS)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_script_is_cacheable_for_an_hour_and_revalidated_by_etag(app):
    first = _get_script(app)
    again = _get_script(app, If_None_Match=first.headers["ETag"])

    assert first.headers["Cache-Control"] == "public, max-age=3600"
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert _get_script(app, If_None_Match='"another"').status_code == 200


def test_script_is_below_7_kb_plus_custom_parameters(app, brand):
    assert len(plain := _get_script(app).data) < 7 * 1024
    program_id = brand.program()
    longest = ",".join(f"{number}-{'x' * 22}" for number in range(10))
    assert brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": longest}).status_code == 200

    assert len(_get_script(app, f"?programId={program_id}").data) == len(plain) + len(longest) + 1


def test_served_script_is_the_minified_source():
    source = (_TEMPLATES / "loader.js").read_bytes()
    minified = subprocess.run([sys.executable, "-c", _MINIFY], input=source, capture_output=True, check=True).stdout

    assert (_TEMPLATES / "loader.min.js").read_bytes() == minified, "run: make loader"


def test_program_script_lists_its_organizations_parameters_first(app, brand, rival):
    program_id = brand.program()
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref,ref"})

    answer = _get_script(app, f"?programId={program_id}")

    assert _order(answer) == ["pk_ref", "ref", *[name for name in attribution_params.DEFAULTS if name != "ref"]]
    assert answer.headers["ETag"] != _get_script(app).headers["ETag"]
    assert _order(_get_script(app, f"?programId={rival.program()}")) == list(attribution_params.DEFAULTS)


@pytest.mark.parametrize("is_verified", [True, False])
def test_verified_tracking_domain_serves_its_brands_parameters(app, brand, is_verified):
    domain = f"go.{uuid4().hex}.example"
    brand.set(trackingDomain=domain, trackingDomainVerified="on" if is_verified else "off")
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})

    answer = _get_script(app, Host=f"{domain.upper()}:443")

    assert (_order(answer)[0] == "pk_ref") is is_verified


@pytest.mark.parametrize("host", ["unknown.example", "192.0.2.1", "[::1]:80", "[", "a b", "ünï.example", "", "-"])
def test_unknown_host_gets_the_defaults(app, host):
    assert _order(_get_script(app, Host=host)) == list(attribution_params.DEFAULTS)


def test_invalid_stored_parameter_is_left_out_of_the_script(app, brand):
    program_id = brand.program()
    brand.rows("update organization set attribution_params = 'ok_1,\");alert(1)//,UP,</script>' returning id")

    assert _order(_get_script(app, f"?programId={program_id}"))[:2] == ["ok_1", "via"]
    assert "alert" not in _get_script(app, f"?programId={program_id}").text


def test_unknown_program_gets_the_default_script(app):
    assert _order(_get_script(app, f"?programId={uuid4()}")) == list(attribution_params.DEFAULTS)


@pytest.mark.parametrize("program_id", ["17", "null", "%00", "%F0%9F%92%B8", "x" * 5000])
def test_malformed_program_id_returns_problem_details(app, program_id):
    answer = _get_script(app, f"?programId={program_id}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_defaults_are_served_for_a_minute_while_the_database_is_down(app, brand, monkeypatch):
    program_id = brand.program()

    def raise_unavailable(*_):
        raise db.UNAVAILABLE[0]

    monkeypatch.setattr(loader.organizations, "any_org_find_params_by_program", raise_unavailable)
    answer = _get_script(app, f"?programId={program_id}")

    assert (answer.status_code, _order(answer)) == (200, list(attribution_params.DEFAULTS))
    assert answer.headers["Cache-Control"] == "public, max-age=60"
