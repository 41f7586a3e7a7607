"""The demo's webhook receiver: an HTTPS server on this machine that checks signatures and says what it was sent."""

import hashlib
import hmac
import http.server
import json
import ssl
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
import click
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import settings

_LARGEST_BODY = 1 << 20


def certificate(data_dir: Path) -> Path:
    """Return a bundle of the public authorities and the receiver's own certificate, made on the first call."""
    folder = data_dir / "receiver"
    bundle = folder / "trusted.pem"
    if not bundle.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        private, public = _self_signed()
        (folder / "key.pem").touch(mode=0o600)
        (folder / "key.pem").write_bytes(private)
        (folder / "cert.pem").write_bytes(public)
        bundle.write_bytes(Path(certifi.where()).read_bytes() + b"\n" + public)
    return bundle


@click.command("demo-receiver")
def run() -> None:
    """Receive the demo's webhooks and print a line for each."""
    chosen = settings.current()
    certificate(chosen.data_dir)
    secret = json.loads((chosen.data_dir / "demo.json").read_text())["webhookSecret"]
    _Handler.secret = secret.encode()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", chosen.port + 1), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    folder = chosen.data_dir / "receiver"
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.daemon_threads = True
    server.serve_forever()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Verifies as a customer should: over the raw body, in constant time, within 300 seconds."""

    protocol_version = "HTTP/1.1"
    secret = b""

    def do_POST(self) -> None:
        """Answer 200 to a good signature and 401 to any other."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length <= _LARGEST_BODY else b""
        is_genuine = self._is_genuine(body)
        if is_genuine:
            click.echo(f"{self.headers['X-Service-Event']} {body.decode()}")
        else:
            click.echo("refused a request with a wrong signature")
        answer = b"thanks\n" if is_genuine else b"wrong signature\n"
        self.send_response(200 if is_genuine else 401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _is_genuine(self, body: bytes) -> bool:
        parts = dict(part.partition("=")[::2] for part in self.headers.get("X-Service-Signature", "").split(","))
        t = parts.get("t", "")
        if not t.isdigit() or abs(time.time() - int(t)) > 300:
            return False
        expected = hmac.new(self.secret, t.encode() + b"." + body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected, parts.get("v1", ""))

    def log_message(self, format: str, *arguments: object) -> None:
        """Stay silent; what matters is printed above."""


def _self_signed() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Finderfee demo receiver")])
    now = datetime.now(UTC)
    public = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=3650))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, public.public_bytes(serialization.Encoding.PEM)
