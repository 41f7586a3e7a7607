"""An OpenID provider over real HTTP: it logs in the person that a test names, and enforces the protocol.

It refuses what a correct provider refuses: a code used twice, a wrong verifier or redirect URI, an unknown client, and
a refresh token that was used before.
"""

import base64
import hashlib
import html
import http.server
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

from werkzeug.test import TestResponse

from adapters.identity import oidc, tokens
from commands.demo.no_delay_handler import NoDelayHandler
from tests.support.outside import identity_provider as idp
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

CLIENT = "finderfee-pages"
SECRET = "a secret: with/odd + characters"


@contextmanager
def sign_in_with_provider(brand: Brand, monkeypatch: Any, **more: Mapping[str, Any]) -> Iterator["OpenIdProvider"]:
    """Run an OpenID provider for the dashboard: it signs in an Owner of the brand, and operators of the group `run-it`.

    `more` are further settings. Sessions are not cached.
    """
    provider = OpenIdProvider()
    identity = provider.build_settings() | {
        "operator_claim": ("groups", "run-it"),
        "dashboard_provider_name": "Acme ID",
    }
    override_settings(monkeypatch, **{"identity": identity, "web": {"key_cache_s": 0}} | more)
    provider.person = {
        "sub": f"ada-{brand.id.hex}",
        "org_id": str(brand.id),
        "role": "Owner",
        "email": f"ada-{brand.id.hex}@example.com",
        "email_verified": True,
    }
    _clear_caches()
    try:
        yield provider
    finally:
        provider.stop()
        monkeypatch.undo()
        _clear_caches()


def _clear_caches() -> None:
    tokens.clear_caches()
    oidc.clear_caches()


class OpenIdProvider:
    """Signs in `person` (claims). The other attributes make it behave like a faulty provider or an attacker.

    `claim_changes` replace claims of the ID token (`...` leaves one out), `sign` signs it differently,
    `discovery_changes` replace fields of the discovery document, and `is_away` responds 503. A browser sees a page with
    a link; with `remembers_login` it is redirected at once, unless the request demands a new login.
    """

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.claim_changes: dict[str, Any] = {}
        self.discovery_changes: dict[str, Any] = {}
        self.is_away = self.remembers_login = False
        self.sign = self._sign
        self.logged_in_at = int(time.time())
        self.authorization_requests: list[dict[str, str]] = []
        self.refreshes = self.discoveries = 0
        self._codes: dict[str, dict[str, str]] = {}
        self._refresh_tokens: set[str] = set()
        self._key = idp.private_key("EdDSA")
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]  # for the handler
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def issuer(self) -> str:
        """The issuer, which is also the URL of the provider."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def build_settings(
        self, prefix: str = "dashboard", *, client_id: str = CLIENT, secret: str | None = SECRET
    ) -> dict:
        """Return the identity settings of the service for this provider."""
        lines = {"issuer": self.issuer, "jwks": f"{self.issuer}/jwks", "client_id": client_id, "client_secret": secret}
        return {f"{prefix}_{name}": value for name, value in lines.items()}

    def log_in(self, address: str) -> str:
        """Log the person in for an authorization request, and return the URL to which the browser is redirected."""
        params = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.authorization_requests.append(params)
        if params.get("prompt") == "login":
            self.logged_in_at = int(time.time())
        code = secrets.token_urlsafe(16)
        self._codes[code] = params
        reply = {"code": code, "state": params["state"], "iss": self.issuer}
        return f"{params['redirect_uri']}?{urlencode(reply)}"

    def authorize(self, address: str) -> tuple[str, bool]:
        """Log the person in; return the URL to redirect to, and whether the browser sees a page first."""
        back = self.log_in(f"{self.issuer}{address}")
        return back, not self.remembers_login or self.authorization_requests[-1].get("prompt") == "login"

    def sign_in(self, visitor: Visitor, path: str = "/sign-in/with/dashboard") -> TestResponse:
        """Send a browser to the provider and back to the service; return the response of the service."""
        return visitor.open(self.log_in(visitor.open(path).headers["Location"]))

    def stop(self) -> None:
        """Close the server."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, form: dict[str, str] | None, authorization: str | None) -> tuple[int, dict[str, Any]]:
        """Return status and JSON of the response to a request."""
        if path == "/jwks":
            return 200, {"keys": [idp.public_jwk(self._key)]}
        self.discoveries += form is None
        if self.is_away:
            return 503, {}
        if form is None:
            return 200, self._discovery()
        return self._tokens(form, authorization)

    def _discovery(self) -> dict[str, Any]:
        valid = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "scopes_supported": ["openid", "email", "offline_access"],
            "authorization_response_iss_parameter_supported": True,
        }
        return valid | self.discovery_changes

    def _tokens(self, form: dict[str, str], authorization: str | None) -> tuple[int, dict[str, Any]]:
        client_id = _client_of(form, authorization)
        if client_id is None:
            return 401, {"error": "invalid_client"}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self._refresh_tokens:
                return 400, {"error": "invalid_grant"}
            self._refresh_tokens.remove(form["refresh_token"])
            self.refreshes += 1
            return 200, self._issue_tokens(client_id, {})
        params = self._codes.pop(form["code"], None)
        verifier = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        is_valid = params is not None and (params["client_id"], params["redirect_uri"]) == (
            client_id,
            form["redirect_uri"],
        )
        if params is None or not is_valid or params["code_challenge"] != verifier.decode():
            return 400, {"error": "invalid_grant"}
        return 200, self._issue_tokens(client_id, {"nonce": params["nonce"], "auth_time": self.logged_in_at})

    def _sign(self, body: dict[str, Any]) -> str:
        return idp.sign_token(self._key, body)

    def _issue_tokens(self, client_id: str, more: dict[str, Any]) -> dict[str, Any]:
        own = {"iss": self.issuer, "aud": client_id, "auth_time": self.logged_in_at}
        body = idp.build_claims(**own | more | self.person | self.claim_changes)
        refresh_token = secrets.token_urlsafe(16)
        self._refresh_tokens.add(refresh_token)
        has_refresh = "offline_access" in self._discovery()["scopes_supported"]
        refresh = {"refresh_token": refresh_token} if has_refresh else {}
        return {"id_token": self.sign(body), "access_token": "unused", **refresh}


def _client_of(form: dict[str, str], authorization: str | None) -> str | None:
    """Return the authenticated client's id, or None; a client whose id begins with `public` has no secret."""
    if authorization is None:
        client_id = form.get("client_id", "")
        return client_id if client_id.startswith("public") or form.get("client_secret") == SECRET else None
    pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
    client_id, _, secret = pair.partition(":")
    return unquote_plus(client_id) if unquote_plus(secret) == SECRET else None


class _Handler(NoDelayHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/authorize"):
            self._show_login_page()
        else:
            self._answer(None)

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer({name: values[0] for name, values in parse_qs(form).items()})

    def _show_login_page(self) -> None:
        owner: OpenIdProvider = self.server.owner  # type: ignore[attr-defined]  # set by OpenIdProvider
        back, has_page = owner.authorize(self.path)
        link = f'<a href="{html.escape(back)}">Log in</a>'
        body = f'<!doctype html><link rel="icon" href="data:,"><h1>Acme ID</h1>{link}'.encode()
        self.send_response(200 if has_page else 302)
        if not has_page:
            self.send_header("Location", back)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, form: dict[str, str] | None) -> None:
        owner: OpenIdProvider = self.server.owner  # type: ignore[attr-defined]  # set by OpenIdProvider
        status, reply = owner.answer(self.path, form, self.headers.get("Authorization"))
        body = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
