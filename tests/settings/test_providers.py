"""The settings of identity providers that sign people in at the pages."""

import pytest

import settings

_SAFE = {"DASHBOARD_JWT_ISSUER": "https://id.example.com", "DASHBOARD_JWT_JWKS": "https://id.example.com/jwks"}
_BOTH = _SAFE | {"AFFILIATE_JWT_ISSUER": "https://id.example.com", "AFFILIATE_JWT_JWKS": "https://id.example.com/jwks"}

_AGENTS = {"MCP_OAUTH_ISSUER": "https://id.example.com", "MCP_OAUTH_JWKS": "https://id.example.com/jwks"}


@pytest.mark.parametrize(
    "issuer",
    ["https://id.example.com", "https://id.example.com/realms/one", "http://127.0.0.1:8080", "http://localhost/x"],
)
def test_sign_in_accepts_https_or_this_machine(issuer):
    chosen = settings.read(_SAFE | {"DASHBOARD_JWT_ISSUER": issuer, "DASHBOARD_OIDC_CLIENT_ID": "pages"}).identity

    assert (chosen.dashboard_issuer, chosen.dashboard_client_id) == (issuer, "pages")


@pytest.mark.parametrize(
    "issuer",
    [
        "http://id.example.com",
        "http://127.0.0.1.example.com",
        "http://10.0.0.1",
        "https://user@id.example.com",
        "https://id.example.com/#x",
        "https://",
        "ftp://id.example.com",
        "our provider",
        "https://id.example.com/a b",
        "https://id.example.com/\u00fc",
    ],
)
def test_sign_in_over_plain_http_raises_error(issuer):
    assert settings.read(_SAFE | {"DASHBOARD_JWT_ISSUER": issuer}).identity.dashboard_issuer == issuer
    with pytest.raises(
        settings.BadSetting, match=r"DASHBOARD_JWT_ISSUER is .*; where people sign in, it must be an https"
    ):
        settings.read(_SAFE | {"DASHBOARD_JWT_ISSUER": issuer, "DASHBOARD_OIDC_CLIENT_ID": "pages"})


def test_operator_claim_is_a_name_and_a_value():
    environ = _SAFE | {"DASHBOARD_OIDC_CLIENT_ID": "pages", "OPERATOR_OIDC_CLAIM": " groups = a=b "}

    assert settings.read(environ).identity.operator_claim == ("groups", "a=b")


@pytest.mark.parametrize("claim", ["groups", "=operators", "groups=", "="])
def test_invalid_operator_claim_raises_error(claim):
    with pytest.raises(settings.BadSetting, match=r"OPERATOR_OIDC_CLAIM is .*such as groups=finderfee-operators"):
        settings.read(_SAFE | {"DASHBOARD_OIDC_CLIENT_ID": "pages", "OPERATOR_OIDC_CLAIM": claim})


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"DASHBOARD_OIDC_CLIENT_ID": "pages"}, "DASHBOARD_OIDC_CLIENT_ID is set without DASHBOARD_JWT_ISSUER"),
        (_SAFE | {"AFFILIATE_OIDC_CLIENT_ID": "x"}, "AFFILIATE_OIDC_CLIENT_ID is set without AFFILIATE_JWT_ISSUER"),
        (
            _SAFE | {"DASHBOARD_OIDC_CLIENT_SECRET": "s3cret"},
            "DASHBOARD_OIDC_CLIENT_SECRET is set without DASHBOARD_OIDC_CLIENT_ID",
        ),
        (_SAFE | {"OPERATOR_OIDC_CLAIM": "a=b"}, "OPERATOR_OIDC_CLAIM is set without DASHBOARD_OIDC_CLIENT_ID"),
        (
            _BOTH | {"DASHBOARD_OIDC_CLIENT_ID": "x", "AFFILIATE_OIDC_CLIENT_ID": "x"},
            "AFFILIATE_OIDC_CLIENT_ID is 'x', which is the dashboard's too",
        ),
        ({"MCP_OAUTH_ISSUER": "https://id.example.com"}, "MCP_OAUTH_ISSUER is set without MCP_OAUTH_JWKS"),
        ({"MCP_OAUTH_JWKS": "jwks.json"}, "MCP_OAUTH_JWKS is set without MCP_OAUTH_ISSUER"),
        (
            _BOTH | _AGENTS | {"MCP_OAUTH_AUDIENCE": "finderfee-dashboard"},
            "MCP_OAUTH_AUDIENCE is 'finderfee-dashboard', which is DASHBOARD_JWT_AUDIENCE too",
        ),
        (
            _BOTH | _AGENTS | {"MCP_OAUTH_AUDIENCE": "finderfee-affiliates"},
            "MCP_OAUTH_AUDIENCE is 'finderfee-affiliates', which is AFFILIATE_JWT_AUDIENCE too",
        ),
        (
            _BOTH | _AGENTS | {"MCP_OAUTH_AUDIENCE": "pages", "DASHBOARD_OIDC_CLIENT_ID": "pages"},
            "MCP_OAUTH_AUDIENCE is 'pages', which is DASHBOARD_OIDC_CLIENT_ID too",
        ),
        (
            _BOTH | {"DASHBOARD_OIDC_CLIENT_ID": "finderfee-affiliates"},
            "DASHBOARD_OIDC_CLIENT_ID is 'finderfee-affiliates', which is AFFILIATE_JWT_AUDIENCE too",
        ),
        (
            _BOTH | {"AFFILIATE_OIDC_CLIENT_ID": "finderfee-dashboard"},
            "AFFILIATE_OIDC_CLIENT_ID is 'finderfee-dashboard', which is DASHBOARD_JWT_AUDIENCE too",
        ),
    ],
)
def test_contradicting_variables_raise_error(variables, why):
    with pytest.raises(settings.BadSetting, match=why) as error:
        settings.read(variables)

    assert "s3cret" not in str(error.value)


def test_client_secret_is_not_printed():
    environ = _SAFE | {"DASHBOARD_OIDC_CLIENT_ID": "pages", "DASHBOARD_OIDC_CLIENT_SECRET": "s3cret"}

    assert "s3cret" not in repr(settings.read(environ))
