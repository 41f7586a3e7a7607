"""An identity provider that authorizes programs (OAuth 2.1 with PKCE), for clients that know only the address of /mcp.

It signs in every visitor as the configured user, and registers every client.
"""

import base64
import hashlib
import http.server
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from commands.demo.no_delay_handler import NoDelayHandler
from tests.support.outside import identity_provider as idp

#: The claims of the user that it signs in.
user: dict[str, Any] = {}
#: The scopes of the authorization requests, in order.
requested_scopes: list[str] = []

_KEY = idp.private_key("ES256", "agents")
_requests_by_code: dict[str, dict[str, str]] = {}


@contextmanager
def running() -> Iterator[dict[str, str]]:
    """Run the provider; yield the settings of a service that trusts it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    try:
        yield {"MCP_OAUTH_ISSUER": issuer, "MCP_OAUTH_JWKS": f"{issuer}/jwks"}
    finally:
        server.shutdown()
        server.server_close()


class _Handler(NoDelayHandler):
    @property
    def _issuer(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self) -> None:
        """Return the metadata or the keys, or sign the user in."""
        address = urlsplit(self.path)
        if address.path == "/.well-known/oauth-authorization-server":
            self._respond(200, self._metadata())
        elif address.path == "/jwks":
            self._respond(200, {"keys": [idp.public_jwk(_KEY, d=...)]})
        elif address.path == "/authorize":
            request = {name: values[0] for name, values in parse_qs(address.query).items()}
            requested_scopes.append(request["scope"])
            code = secrets.token_urlsafe(16)
            _requests_by_code[code] = request
            query = urlencode({"code": code, "state": request["state"], "iss": self._issuer})
            self._respond(302, {}, Location=f"{request['redirect_uri']}?{query}")
        else:
            self._respond(404, {})

    def do_POST(self) -> None:
        """Register a client, or exchange a code for a token."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            self._respond(201, {**json.loads(raw), "client_id": secrets.token_urlsafe(8)})
            return
        form = {name: values[0] for name, values in parse_qs(raw.decode()).items()}
        authorization = _requests_by_code.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if authorization is None or challenge != authorization["code_challenge"]:
            self._respond(400, {"error": "invalid_grant"})
            return
        claims = idp.build_claims(iss=self._issuer, aud=form["resource"], scope=authorization["scope"], **user)
        token = {"access_token": idp.sign_token(_KEY, claims), "token_type": "Bearer", "expires_in": 600}
        self._respond(200, {**token, "scope": authorization["scope"]})

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self._issuer,
            "authorization_endpoint": f"{self._issuer}/authorize",
            "token_endpoint": f"{self._issuer}/token",
            "registration_endpoint": f"{self._issuer}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }

    def _respond(self, status: int, document: dict[str, Any], **headers: str) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
