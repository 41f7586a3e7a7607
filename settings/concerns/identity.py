"""Which identity providers vouch for people."""

from dataclasses import dataclass

from settings.parsers import text
from settings.table import BadSetting, Concern, setting


def _place_of_keys(raw: str) -> str:
    if "://" in raw and not raw.lower().startswith(("https://", "http://")):
        raise ValueError(f"is {raw!r}; it must be an https or http URL, or the path of a file")
    return raw


@dataclass(frozen=True, slots=True)
class Identity(Concern):
    """Your identity providers for the dashboard and for the affiliate portal."""

    dashboard_issuer: str | None = setting(
        "DASHBOARD_JWT_ISSUER", text, None, "the `iss` of the dashboard's tokens; without it `flask token` issues them"
    )
    dashboard_jwks: str | None = setting(
        "DASHBOARD_JWT_JWKS",
        _place_of_keys,
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
        "AFFILIATE_JWT_JWKS", _place_of_keys, None, "that provider's public keys, as above"
    )
    affiliate_audience: str = setting(
        "AFFILIATE_JWT_AUDIENCE",
        text,
        "finderfee-affiliates",
        "the `aud` that affiliates' tokens must name; it must differ from the dashboard's where one issuer serves both",
    )

    def check(self) -> None:
        """Refuse an issuer without keys, keys without an issuer, and tokens that could be either's."""
        _check_pair("DASHBOARD", self.dashboard_issuer, self.dashboard_jwks)
        _check_pair("AFFILIATE", self.affiliate_issuer, self.affiliate_jwks)
        dashboard = (self.dashboard_issuer, self.dashboard_audience)
        if dashboard == (self.affiliate_issuer, self.affiliate_audience):
            raise BadSetting(
                f"AFFILIATE_JWT_AUDIENCE is {self.affiliate_audience!r}, which is the dashboard's too; with one "
                "issuer for both, the audiences must differ"
            )


def _check_pair(prefix: str, issuer: str | None, jwks: str | None) -> None:
    given, missing = f"{prefix}_JWT_ISSUER", f"{prefix}_JWT_JWKS"
    if issuer is None:
        given, missing = missing, given
    if (issuer is None) != (jwks is None):
        raise BadSetting(f"{given} is set without {missing}; set both, or neither to use the tokens of `flask token`")
