"""The identity providers by which people sign in."""

from dataclasses import dataclass

from settings.parsers import choice, is_safe_url, text
from settings.table import BadSetting, Concern, setting


def _jwks_location(raw: str) -> str:
    if "://" in raw and not raw.lower().startswith(("https://", "http://")):
        raise ValueError(f"is {raw!r}; it must be an https or http URL, or the path of a file")
    return raw


def _claim_and_value(raw: str) -> tuple[str, str]:
    name, _, value = (part.strip() for part in raw.partition("="))
    if not name or not value:
        raise ValueError(f"is {raw!r}; it must be a claim and its value, such as groups=finderfee-operators")
    return name, value


@dataclass(frozen=True, slots=True)
class Identity(Concern):
    """Your identity providers for the dashboard, for the affiliate portal, and for agents."""

    dashboard_issuer: str | None = setting(
        "DASHBOARD_JWT_ISSUER", text, None, "the `iss` of the dashboard's tokens; without it `flask token` issues them"
    )
    dashboard_jwks: str | None = setting(
        "DASHBOARD_JWT_JWKS",
        _jwks_location,
        None,
        "that provider's public keys (RS256, ES256, EdDSA): an https or http URL, or the path of a file; goes with"
        " the issuer",
    )
    dashboard_audience: str = setting(
        "DASHBOARD_JWT_AUDIENCE", text, "finderfee-dashboard", "the `aud` that the dashboard's tokens must name"
    )
    affiliate_issuer: str | None = setting(
        "AFFILIATE_JWT_ISSUER", text, None, "the `iss` of affiliates' tokens; without it `flask token` issues them"
    )
    affiliate_jwks: str | None = setting(
        "AFFILIATE_JWT_JWKS", _jwks_location, None, "that provider's public keys, as above"
    )
    affiliate_audience: str = setting(
        "AFFILIATE_JWT_AUDIENCE",
        text,
        "finderfee-affiliates",
        "the `aud` that affiliates' tokens must name; it must differ from the dashboard's where one issuer serves both",
    )
    dashboard_client_id: str | None = setting(
        "DASHBOARD_OIDC_CLIENT_ID",
        text,
        None,
        "this service as a client of the dashboard's issuer (OpenID Connect): brands' people sign in there for the"
        " pages; without it only the issuer's keys are used",
    )
    dashboard_client_secret: str | None = setting(
        "DASHBOARD_OIDC_CLIENT_SECRET", text, None, "that client's secret; empty for a public client", is_secret=True
    )
    dashboard_provider_name: str | None = setting(
        "DASHBOARD_OIDC_NAME",
        text,
        None,
        "the name of that provider on the sign-in page",
        default_text="the issuer's host",
    )
    dashboard_roles: str = setting(
        "DASHBOARD_OIDC_ROLES",
        choice("claims", "members"),
        "claims",
        "where role and organization of brands' people come from: `claims` of that provider's tokens, or `members`: the"
        " team list of each organization, by verified email, for a provider without claims of your own",
    )
    affiliate_client_id: str | None = setting(
        "AFFILIATE_OIDC_CLIENT_ID",
        text,
        None,
        "this service as a client of the affiliates' issuer: affiliates sign in there for the portal; it must differ"
        " from the dashboard's where one issuer serves both",
    )
    affiliate_client_secret: str | None = setting(
        "AFFILIATE_OIDC_CLIENT_SECRET", text, None, "that client's secret; empty for a public client", is_secret=True
    )
    affiliate_provider_name: str | None = setting(
        "AFFILIATE_OIDC_NAME",
        text,
        None,
        "the name of that provider on the sign-in page",
        default_text="the issuer's host",
    )
    mcp_issuer: str | None = setting(
        "MCP_OAUTH_ISSUER",
        text,
        None,
        "the `iss` of the tokens (OAuth) with which programs call /mcp for a person who authorized them; without it"
        " clients are not sent to an authorization server, and `flask token mcp` issues them",
    )
    mcp_jwks: str | None = setting("MCP_OAUTH_JWKS", _jwks_location, None, "that provider's public keys, as above")
    mcp_audience: str | None = setting(
        "MCP_OAUTH_AUDIENCE",
        text,
        None,
        "the `aud` that these tokens must name; it must differ from the dashboard's and the affiliates' where they have"
        " the same issuer",
        default_text="`PUBLIC_BASE_URL/mcp`",
    )
    operator_claim: tuple[str, str] | None = setting(
        "OPERATOR_OIDC_CLAIM",
        _claim_and_value,
        None,
        "who may open the console: a claim of the dashboard provider's ID token and a value that it must have or"
        " contain, such as `groups=finderfee-operators`; without it only `flask sign-in operator` opens it",
    )

    def check(self) -> None:
        """Raise BadSetting for an issuer without keys, keys without an issuer, and tokens that fit both audiences."""
        _check_pair("DASHBOARD_JWT", self.dashboard_issuer, self.dashboard_jwks)
        _check_pair("AFFILIATE_JWT", self.affiliate_issuer, self.affiliate_jwks)
        _check_pair("MCP_OAUTH", self.mcp_issuer, self.mcp_jwks)
        dashboard = (self.dashboard_issuer, self.dashboard_audience)
        if dashboard == (self.affiliate_issuer, self.affiliate_audience):
            raise BadSetting(
                f"AFFILIATE_JWT_AUDIENCE is {self.affiliate_audience!r}, which is the dashboard's too; with one "
                "issuer for both, the audiences must differ"
            )
        self._check_clients()
        self._check_programs()

    def _check_programs(self) -> None:
        """Raise BadSetting if a token of a program would be accepted as a person's, or the other way round."""
        person_tokens = (
            (self.dashboard_issuer, self.dashboard_audience, "DASHBOARD_JWT_AUDIENCE"),
            (self.affiliate_issuer, self.affiliate_audience, "AFFILIATE_JWT_AUDIENCE"),
            (self.dashboard_issuer, self.dashboard_client_id, "DASHBOARD_OIDC_CLIENT_ID"),
            (self.affiliate_issuer, self.affiliate_client_id, "AFFILIATE_OIDC_CLIENT_ID"),
        )
        for issuer, audience, name in person_tokens:
            if audience is not None and (issuer, audience) == (self.mcp_issuer, self.mcp_audience):
                raise BadSetting(
                    f"MCP_OAUTH_AUDIENCE is {audience!r}, which is {name} too; with one issuer for both, they must"
                    " differ"
                )

    def _check_clients(self) -> None:
        """Raise BadSetting for a client whose provider is missing or unsafe, and for one client of both audiences."""
        _check_client("DASHBOARD", self.dashboard_issuer, self.dashboard_client_id, self.dashboard_client_secret)
        _check_client("AFFILIATE", self.affiliate_issuer, self.affiliate_client_id, self.affiliate_client_secret)
        if self.dashboard_roles == "members" and self.dashboard_client_id is None:
            raise BadSetting("DASHBOARD_OIDC_ROLES is members without DASHBOARD_OIDC_CLIENT_ID; people sign in there")
        if self.operator_claim is not None and self.dashboard_client_id is None:
            raise BadSetting("OPERATOR_OIDC_CLAIM is set without DASHBOARD_OIDC_CLIENT_ID; operators sign in there too")
        dashboard = (self.dashboard_issuer, self.dashboard_client_id)
        if self.dashboard_client_id is not None and dashboard == (self.affiliate_issuer, self.affiliate_client_id):
            raise BadSetting(
                f"AFFILIATE_OIDC_CLIENT_ID is {self.affiliate_client_id!r}, which is the dashboard's too; with one "
                "issuer for both, the clients must differ"
            )
        self._check_audiences()

    def _check_audiences(self) -> None:
        """Raise BadSetting for a client whose ID tokens would be accepted as tokens of the other audience."""
        if self.dashboard_issuer is None or self.dashboard_issuer != self.affiliate_issuer:
            return
        if self.dashboard_client_id == self.affiliate_audience:
            raise BadSetting(
                _audience_clash("DASHBOARD_OIDC_CLIENT_ID", self.dashboard_client_id, "AFFILIATE_JWT_AUDIENCE")
            )
        if self.affiliate_client_id is not None and self.affiliate_client_id == self.dashboard_audience:
            raise BadSetting(
                _audience_clash("AFFILIATE_OIDC_CLIENT_ID", self.affiliate_client_id, "DASHBOARD_JWT_AUDIENCE")
            )


def _check_pair(prefix: str, issuer: str | None, jwks: str | None) -> None:
    given, missing = f"{prefix}_ISSUER", f"{prefix}_JWKS"
    if issuer is None:
        given, missing = missing, given
    if (issuer is None) != (jwks is None):
        raise BadSetting(f"{given} is set without {missing}; set both, or neither to use the tokens of `flask token`")


def _audience_clash(client: str, value: str, audience: str) -> str:
    return (
        f"{client} is {value!r}, which is {audience} too; with one issuer for both, the ID tokens of the client would"
        " be accepted as tokens of the other audience"
    )


def _check_client(prefix: str, issuer: str | None, client_id: str | None, secret: str | None) -> None:
    if secret is not None and client_id is None:
        raise BadSetting(f"{prefix}_OIDC_CLIENT_SECRET is set without {prefix}_OIDC_CLIENT_ID")
    if client_id is not None and issuer is None:
        raise BadSetting(f"{prefix}_OIDC_CLIENT_ID is set without {prefix}_JWT_ISSUER; people sign in at the issuer")
    if client_id is not None and not is_safe_url(issuer or ""):
        raise BadSetting(
            f"{prefix}_JWT_ISSUER is {issuer!r}; where people sign in, it must be an https URL, or http on this machine"
        )
