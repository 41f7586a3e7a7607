"""The certificate of the demo's webhook receiver, and a bundle that trusts it."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_NAMES = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])


def ensure_certificate(data_dir: Path) -> Path:
    """Return the folder with cert.pem and key.pem, created on the first call and again when the host names change."""
    folder = data_dir / "receiver"
    if not _is_current(folder / "cert.pem"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        private, public = _create_self_signed()
        (folder / "key.pem").touch(mode=0o600)
        (folder / "key.pem").write_bytes(private)
        (folder / "cert.pem").write_bytes(public)
    return folder


def write_bundle(data_dir: Path, *, base_bundle: str | None = None) -> Path:
    """Write and return a bundle of this certificate and those in the file `beside` (default: the public authorities).

    Raises OSError if `beside` cannot be read.
    """
    others = Path(base_bundle or certifi.where()).read_bytes()
    folder = ensure_certificate(data_dir)
    bundle = folder / "trusted.pem"
    draft = folder / "trusted.draft"
    draft.write_bytes(others + b"\n" + (folder / "cert.pem").read_bytes())
    draft.replace(bundle)
    return bundle


def _is_current(path: Path) -> bool:
    if not path.exists():
        return False
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value == _NAMES


def _create_self_signed() -> tuple[bytes, bytes]:
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
        .add_extension(_NAMES, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, public.public_bytes(serialization.Encoding.PEM)
