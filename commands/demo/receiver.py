"""The demo's webhook receiver: an HTTPS server on this machine that verifies and prints what it receives."""

import hashlib
import hmac
import http.server
import json
import ssl
import time

import click

import settings
from commands.demo import loopback
from commands.demo.no_delay_handler import NoDelayHandler

LARGEST_BODY = 1 << 20

# Both brands of the demo have an endpoint at the receiver.
_SECRETS = ("webhookSecret", "gatewayWebhookSecret")


def receive(config: settings.Settings) -> None:
    """Receive the demo's webhooks and print a line for each; never returns. Raises ClickException for a used port."""
    facts = json.loads((config.servers.data_dir / "demo.json").read_text())
    _Handler.secrets = tuple(facts[name].encode() for name in _SECRETS if name in facts)
    address = loopback.receiver_address(config)
    with loopback.listening("receiver", address):
        server = http.server.ThreadingHTTPServer(address, _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    folder = loopback.certificate_folder(config)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.daemon_threads = True
    server.serve_forever()


class _Handler(NoDelayHandler):
    """Verifies signatures as a customer should: over the raw body, in constant time, within 300 seconds."""

    protocol_version = "HTTP/1.1"
    secrets: tuple[bytes, ...] = ()

    def do_POST(self) -> None:
        """Respond 200 to a valid signature and 401 to any other."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length <= LARGEST_BODY else b""
        signature = self.headers.get("X-Service-Signature", "")
        is_signed = any(is_genuine(signature, body, secret=secret) for secret in self.secrets)
        if is_signed:
            click.echo(f"{self.headers['X-Service-Event']} {body.decode()}")
        else:
            click.echo("refused a request with a wrong signature")
        answer = b"thanks\n" if is_signed else b"wrong signature\n"
        self.send_response(200 if is_signed else 401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def is_genuine(signature: str, body: bytes, *, secret: bytes) -> bool:
    """Return whether a body was signed with the secret within 300 seconds; `signature` is X-Service-Signature."""
    parts = dict(part.partition("=")[::2] for part in signature.split(","))
    t = parts.get("t", "")
    if not (t.isascii() and t.isdigit()) or abs(time.time() - int(t)) > 300:
        return False
    expected = hmac.new(secret, t.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), parts.get("v1", "").encode())
