"""No tool, resource or co-pilot response contains a bearer link or secret, for any caller.

Source: docs/mcp.md, "What is withheld".
"""

import json
import re
from urllib.parse import urlsplit

import pytest
from marshmallow import Schema, fields

from api.mcp.tools import catalogue
from tests.api.mcp import tool_calls
from tests.api.mcp.test_tools import OPERATIONS
from tests.support.api.agents import Agent
from tests.support.gateways.gateway_connections import play_gateway

_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")
# Loaded by every page of a brand for all visitors.
_PUBLIC = ("", "/", "/api/v1/r/loader.js", "/api/v1/r/c.gif")
_OPENS = re.compile(r"(^|_)(secret|key|token|password|signature|urls?|links?|href)$")
# Response fields named like a secret or an address that open nothing, and why.
_OPEN_TO_ALL = {
    "terms_url": "the brand's public terms",
    "referral_destination_url": "the brand's public page",
    "hosted_checkout_thank_you_url": "the brand's public page",
    "recruiting_url": "a page for everyone",
    "logo_url": "a public picture",
    "favicon_url": "a public picture",
    "hero_image_url": "a public picture",
    "customer_avatar_url": "a public picture at the brand",
    "file_url": "opens for a caller with a credential alone",
    "embed_url": "opens nothing without the token behind it",
    "page_url": "a public page of the brand",
    "submission_urls": "where an affiliate published their work",
    "public_key": "stands in public pages",
    "url": "where an affiliate's link leads, or the brand's own endpoint",
    "links": "links that affiliates publish",
    "key_url": "the page of a gateway where its keys are made",
    "key": "the name of an answer or an attempt",
    "payout_key": "the name of an attempt",
    "secret": "in GatewayField and PlatformField: whether a field is hidden",
}


def _list_operations(app):
    for rule in app.url_map.iter_rules():
        operation = app.view_functions[rule.endpoint].operation
        if operation.gives.schema is not None:
            yield rule, operation


def _walk(schema, above=()):
    for name, field in schema.dump_fields.items():
        while isinstance(field, fields.List):
            field = field.inner
        if isinstance(field, fields.Dict) and field.value_field is not None:
            field = field.value_field
        yield name, field
        if isinstance(field, fields.Nested) and isinstance(field.schema, Schema) and type(field.schema) not in above:
            yield from _walk(field.schema, (*above, type(field.schema)))


def _is_secret(field):
    return "found_at" in field.metadata


def test_every_secret_like_field_is_withheld_or_listed_as_public(app):
    unlisted = {
        f"{rule.endpoint}: {name}"
        for rule, operation in _list_operations(app)
        for name, field in _walk(operation.gives.schema)
        if _OPENS.search(name)
        and not isinstance(field, fields.Boolean | fields.Nested)
        and not _is_secret(field)
        and name not in _OPEN_TO_ALL
    }

    assert unlisted == set()


def test_shows_secret_is_set_exactly_when_the_response_has_a_secret(app):
    mismatches = [
        rule.endpoint
        for rule, operation in _list_operations(app)
        if any(_is_secret(field) for _, field in _walk(operation.gives.schema)) != operation.shows_secret
    ]

    assert mismatches == []


def test_only_tools_with_a_secret_in_their_response_withhold_fields(app):
    withheld = {name: set(bound.withheld) for name, bound in catalogue.bound_tools(app).items() if bound.withheld}

    assert withheld == {"get_tax_form": {("signedUrl",)}, "invite_affiliate": {("acceptUrl",)}}


@pytest.fixture
def stage():
    with play_gateway() as playing:
        yield playing


def _find_open_addresses(app, text):
    """Yield the addresses in a text that this service opens without a credential."""
    for address in _ADDRESS.findall(text):
        parts = urlsplit(address)
        answer = app.test_client().get(f"{parts.path}?{parts.query}", base_url=f"http://{parts.netloc}")
        if answer.status_code == 200 and parts.path not in _PUBLIC:
            yield address


@pytest.mark.parametrize("scope", ["read", "read_write"])
def test_no_tool_result_opens_anything_without_a_credential(app, stage, scope):
    tool_brand = tool_calls.create_tool_brand(app, stage)
    caller = tool_brand.brand if scope == "read_write" else tool_brand.brand.other_key(scope="read")
    agent = Agent(caller)
    secrets = {tool_brand.brand.api_key, tool_brand.brand.signing_secret, caller.api_key, caller.signing_secret}
    results = {}

    for tool in agent.list_tools():
        if tool != "record_lead":
            arguments = tool_brand.calls[tool]
            results[tool] = agent.run_tool(tool, **arguments)

    assert set(results) <= {row["tool"] for row in OPERATIONS}
    assert len(results) == (60 if scope == "read_write" else 31)
    for tool, result in results.items():
        texts = list(tool_calls.texts(result))
        assert [address for text in texts for address in _find_open_addresses(app, text)] == [], tool
        assert [text for text in texts for secret in secrets if secret in text] == [], tool
        assert not any(text.startswith(("ff_live_", "ff_test_", "whsec_")) for text in texts), tool


@pytest.mark.parametrize("scope", ["read", "read_write"])
def test_tax_form_is_described_without_its_link(app, stage, scope):
    tool_brand = tool_calls.create_tool_brand(app, stage)
    agent = Agent(tool_brand.brand.other_key(scope=scope))

    result = agent.request_result("tools/call", name="get_tax_form", arguments=tool_brand.calls["get_tax_form"])

    content = result["structuredContent"]
    assert (content["type"], "signedUrl" in content) == ("W9", False)
    assert "dashboard" in content["withheld"]["signedUrl"]
    assert json.loads(result["content"][0]["text"]) == content
    assert "/api/files/" not in json.dumps(result)


def test_invitation_is_emailed_and_its_link_withheld(app, brand):
    program = str(brand.program())
    agent = Agent(brand)

    result = agent.run_tool("invite_affiliate", programId=program, email=f"ina-{brand.id.hex}@example.com")

    assert (result["invite"]["state"], "acceptUrl" in result) == ("Pending", False)
    assert "Invites" in result["withheld"]["acceptUrl"]


def test_resource_contains_no_link_that_opens_without_a_credential(app, brand):
    program = str(brand.program())

    contents = Agent(brand).request_result("resources/read", uri=f"finderfee://programs/{program}")["contents"]

    assert [address for content in contents for address in _find_open_addresses(app, content["text"])] == []
