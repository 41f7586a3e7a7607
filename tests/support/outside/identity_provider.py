"""An identity provider: keys, a JWKS served over real HTTP, and valid and forged tokens."""

import base64
import http.server
import json
import threading
import time
from typing import Any

from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from commands.demo.no_delay_handler import NoDelayHandler

ISSUER = "https://id.example.com/"
AUDIENCE = "the-audience"

_KEYS: dict[str, Any] = {}


def private_key(alg: str, name: str = "one") -> Any:
    """Return a private key for an algorithm; keys are cached by name, because generating RSA keys takes time."""
    kid = f"{alg}-{name}"
    if kid not in _KEYS:
        parameters = {"kid": kid}
        if alg == "RS256":
            _KEYS[kid] = RSAKey.generate_key(2048, parameters)
        elif alg == "ES256":
            _KEYS[kid] = ECKey.generate_key("P-256", parameters)
        else:
            _KEYS[kid] = OKPKey.generate_key("Ed25519", parameters)
    return _KEYS[kid]


def public_jwk(signer: Any, **members: Any) -> dict[str, Any]:
    """Return the public JWK of a key; a member given as `...` is left out."""
    return {name: value for name, value in {**signer.as_dict(), **members}.items() if value is not ...}


def build_claims(**changes: Any) -> dict[str, Any]:
    """Return valid claims of the provider; `changes` override, a claim given as `...` is left out."""
    now = int(time.time())
    valid = {"iss": ISSUER, "aud": AUDIENCE, "sub": "user-1", "iat": now, "exp": now + 600}
    return {name: value for name, value in {**valid, **changes}.items() if value is not ...}


def sign_token(
    signer: Any, body: dict[str, Any] | bytes | None = None, *, alg: str | None = None, **header: Any
) -> str:
    """Return a token signed by `signer`, with the algorithm of its type or `alg`; a header of `...` is left out."""
    header_fields = {"alg": alg or _alg(signer), "kid": signer.kid, "typ": "JWT", **header}
    head = {name: value for name, value in header_fields.items() if value is not ...}
    raw = body if isinstance(body, bytes) else json.dumps(build_claims() if body is None else body).encode()
    signing_input = encode_base64url(json.dumps(head).encode()) + "." + encode_base64url(raw)
    signature = JWSRegistry.algorithms[head["alg"]].sign(signing_input.encode(), signer)
    return f"{signing_input}.{encode_base64url(signature)}"


def encode_base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def symmetric_key(raw: bytes) -> OctKey:
    """Return a symmetric key of these bytes."""
    return OctKey.import_key(raw)


def _alg(signer: Any) -> str:
    return {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}[signer.key_type]


class JwksServer:
    """Serves a JWKS of `keys` (public JWKs), or `body` and `status` if they are set; records the requested paths."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        self.keys = list(keys)
        self.body: bytes | None = None
        self.status = 200
        self.headers: dict[str, str] = {}
        self.requested_paths: list[str] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]  # for the handler
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """The URL of the JWKS."""
        return f"http://127.0.0.1:{self._server.server_port}/jwks.json"

    def stop(self) -> None:
        """Close the server; later connections are refused."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(NoDelayHandler):
    def do_GET(self) -> None:
        owner: JwksServer = self.server.owner  # type: ignore[attr-defined]  # set by JwksServer
        owner.requested_paths.append(self.path)
        body = owner.body if owner.body is not None else json.dumps({"keys": owner.keys}).encode()
        self.send_response(owner.status)
        for name, value in owner.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
