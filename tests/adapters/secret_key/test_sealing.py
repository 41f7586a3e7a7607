"""A sealed secret opens only for its owner, with the same key, unchanged."""

import os
import subprocess
import sys

import pytest

from adapters.secret_key import sealing

_UNSEAL = """
import sys
from adapters.secret_key import sealing
try:
    print(sealing.unseal(bytes.fromhex(sys.argv[1]), belongs_to="me"))
except sealing.CannotUnseal as error:
    print(error)
"""


def _unseal_in_another_process(sealed: bytes, secret_key: str) -> str:
    command = [sys.executable, "-c", _UNSEAL, sealed.hex()]
    environment = {**os.environ, "SECRET_KEY": secret_key}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("secret", ["ffsec_abc", "", "é ✓", "x" * 10_000])
def test_sealed_secret_opens_for_its_owner(secret):
    sealed = sealing.seal(secret, belongs_to="me")

    assert sealing.unseal(sealed, belongs_to="me") == secret


def test_sealed_secret_is_opaque_and_never_repeats():
    first = sealing.seal("ffsec_abc", belongs_to="me")
    second = sealing.seal("ffsec_abc", belongs_to="me")

    assert b"ffsec" not in first
    assert first != second


def test_secret_copied_to_another_owner_does_not_open():
    sealed = sealing.seal("ffsec_abc", belongs_to="me")

    with pytest.raises(sealing.CannotUnseal, match="rotate the secret"):
        sealing.unseal(sealed, belongs_to="you")


@pytest.mark.parametrize("place", [1, 12, 13, 20, -1])
def test_changed_byte_raises_cannot_unseal(place):
    sealed = bytearray(sealing.seal("ffsec_abc", belongs_to="me"))
    sealed[place] ^= 1

    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(bytes(sealed), belongs_to="me")


@pytest.mark.parametrize("length", [0, 1, 5, 13, 20])
def test_truncated_secret_does_not_open(length):
    sealed = sealing.seal("ffsec_abc", belongs_to="me")[:length]

    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(sealed, belongs_to="me")


def test_another_process_needs_the_same_key():
    sealed = sealing.seal("ffsec_abc", belongs_to="me")

    assert _unseal_in_another_process(sealed, os.environ["SECRET_KEY"]) == "ffsec_abc"
    assert "cannot be read with this SECRET_KEY" in _unseal_in_another_process(
        sealed, "another key of more than 32 characters"
    )


def test_secret_with_any_byte_changed_does_not_open():
    sealed = sealing.seal("secret", belongs_to="me")
    opened = [
        place
        for place in range(len(sealed))
        if _can_unseal(sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :])
    ]

    assert opened == []


@pytest.mark.parametrize("version", [0, 2, 9, 255])
def test_unknown_version_does_not_open(version):
    assert not _can_unseal(bytes([version]) + sealing.seal("secret", belongs_to="me")[1:])


def test_secret_of_an_earlier_release_opens():
    # Version 1 of the format, written out: version, nonce, AES-256-GCM with the owner as associated data.
    nonce = bytes(range(12))
    sealed = b"\x01" + nonce + sealing._ciphers()[0].encrypt(nonce, b"secret", b"me")

    assert sealing.unseal(sealed, belongs_to="me") == "secret"


def _can_unseal(sealed: bytes) -> bool:
    try:
        sealing.unseal(sealed, belongs_to="me")
    except sealing.CannotUnseal:
        return False
    return True
