"""An identity provider that lets programs in (OAuth 2.1 with PKCE), for clients that are told of nothing but /mcp.

It signs in whoever comes, as the person of the brand that was chosen, and registers every client.
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

from commands.demo.prompt_handler import PromptHandler
from tests.support.outside import identity_provider as idp

#: Whom it signs in: claims of the tokens that it gives out.
person: dict[str, Any] = {}
#: Which scopes people were asked for, one after the other.
asked: list[str] = []

_KEY = idp.private_key("ES256", "agents")
_codes: dict[str, dict[str, str]] = {}


@contextmanager
def running() -> Iterator[dict[str, str]]:
    """Run it; give the settings of a service that believes it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    try:
        yield {"MCP_OAUTH_ISSUER": issuer, "MCP_OAUTH_JWKS": f"{issuer}/jwks"}
    finally:
        server.shutdown()
        server.server_close()


class _Handler(PromptHandler):
    @property
    def _issuer(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self) -> None:
        """Say what it is, give its keys, sign somebody in."""
        address = urlsplit(self.path)
        if address.path == "/.well-known/oauth-authorization-server":
            self._answer(200, self._metadata())
        elif address.path == "/jwks":
            self._answer(200, {"keys": [idp.public_jwk(_KEY, d=...)]})
        elif address.path == "/authorize":
            sent = {name: values[0] for name, values in parse_qs(address.query).items()}
            asked.append(sent["scope"])
            code = secrets.token_urlsafe(16)
            _codes[code] = sent
            back = urlencode({"code": code, "state": sent["state"], "iss": self._issuer})
            self._answer(302, {}, Location=f"{sent['redirect_uri']}?{back}")
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        """Register a client, or give a token for a code."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            self._answer(201, {**json.loads(raw), "client_id": secrets.token_urlsafe(8)})
            return
        sent = {name: values[0] for name, values in parse_qs(raw.decode()).items()}
        begun = _codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if begun is None or challenge != begun["code_challenge"]:
            self._answer(400, {"error": "invalid_grant"})
            return
        claims = idp.build_claims(iss=self._issuer, aud=sent["resource"], scope=begun["scope"], **person)
        token = {"access_token": idp.sign_token(_KEY, claims), "token_type": "Bearer", "expires_in": 600}
        self._answer(200, {**token, "scope": begun["scope"]})

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

    def _answer(self, status: int, found: dict[str, Any], **headers: str) -> None:
        body = json.dumps(found).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
