"""A token is valid only if its issuer signed it for this service."""

import base64
import hmac
import json

import pytest
from joserfc.jwk import RSAKey

from adapters.identity import key_sets, sources, tokens
from tests.support.outside import identity_provider as idp

_ALGORITHMS = ["RS256", "ES256", "EdDSA"]
_LEEWAY_S = 30


def _verifier(*jwks, **options) -> tokens.Verifier:
    keys = key_sets.parse_usable_keys(json.dumps({"keys": jwks}).encode())
    return tokens.Verifier(idp.ISSUER, idp.AUDIENCE, sources.FixedKeys(keys), **options)


@pytest.fixture(scope="module")
def verifier():
    """Return a verifier that knows one key of each type."""
    return _verifier(*(idp.public_jwk(idp.private_key(alg)) for alg in _ALGORITHMS))


@pytest.mark.parametrize("alg", _ALGORITHMS)
def test_signed_token_is_accepted(verifier, alg):
    assert verifier.claims(idp.sign_token(idp.private_key(alg)))["sub"] == "user-1"


@pytest.mark.parametrize("alg", _ALGORITHMS)
def test_token_of_another_key_with_a_known_kid_is_rejected(verifier, alg):
    assert verifier.claims(idp.sign_token(idp.private_key(alg, "stranger"), kid=f"{alg}-one")) is None


@pytest.mark.parametrize("alg", _ALGORITHMS)
@pytest.mark.parametrize("part", [0, 1, 2])
def test_changed_token_is_rejected(verifier, alg, part):
    parts = idp.sign_token(idp.private_key(alg)).split(".")
    changed = bytearray(base64.urlsafe_b64decode(parts[part] + "=="))
    changed[len(changed) // 2] ^= 1
    parts[part] = idp.encode_base64url(bytes(changed))

    assert verifier.claims(".".join(parts)) is None


@pytest.mark.parametrize(
    "alg", ["none", "None", "NONE", "", "HS256", "RS512", "PS256", "ES384", "Ed25519", 1, None, []]
)
@pytest.mark.parametrize("signature", ["", "AAAA"])
def test_unsupported_algorithm_is_rejected(verifier, alg, signature):
    head = idp.encode_base64url(json.dumps({"alg": alg, "kid": "RS256-one"}).encode())

    assert (
        verifier.claims(f"{head}.{idp.encode_base64url(json.dumps(idp.build_claims()).encode())}.{signature}") is None
    )


@pytest.mark.parametrize("alg", _ALGORITHMS)
@pytest.mark.parametrize("bits", ["256", "384", "512"])
def test_public_key_is_never_used_as_a_shared_secret(verifier, alg, bits):
    signer = idp.private_key(alg)
    head = idp.encode_base64url(json.dumps({"alg": f"HS{bits}", "kid": signer.kid}).encode())
    signing_input = f"{head}.{idp.encode_base64url(json.dumps(idp.build_claims()).encode())}"

    for secret in (
        signer.as_pem(private=False),
        signer.as_der(private=False),
        json.dumps(idp.public_jwk(signer)).encode(),
    ):
        digest = hmac.digest(secret, signing_input.encode(), f"sha{bits}")
        assert verifier.claims(f"{signing_input}.{idp.encode_base64url(digest)}") is None


@pytest.mark.parametrize("alg", _ALGORITHMS)
def test_key_of_another_type_does_not_verify(verifier, alg):
    for other in set(_ALGORITHMS) - {alg}:
        assert verifier.claims(idp.sign_token(idp.private_key(alg), kid=f"{other}-one")) is None


@pytest.mark.parametrize("alg", _ALGORITHMS)
def test_token_without_kid_is_verified_by_key_type(alg):
    jwks = [idp.public_jwk(idp.private_key(each, name)) for each in _ALGORITHMS for name in ("stranger", "one")]

    assert _verifier(*jwks).claims(idp.sign_token(idp.private_key(alg), kid=...))
    assert _verifier(idp.public_jwk(idp.private_key(alg))).claims(idp.sign_token(idp.private_key(alg), kid=...))
    assert _verifier(idp.public_jwk(idp.private_key(alg), kid=...)).claims(
        idp.sign_token(idp.private_key(alg), kid=...)
    )


@pytest.mark.parametrize("alg", _ALGORITHMS)
def test_unknown_kid_is_rejected_even_if_a_key_fits(alg):
    verifier = _verifier(
        idp.public_jwk(idp.private_key(alg)), idp.public_jwk(idp.private_key(alg, "stranger"), kid=...)
    )

    assert verifier.claims(idp.sign_token(idp.private_key(alg), kid="other")) is None
    assert verifier.claims(idp.sign_token(idp.private_key(alg), kid="")) is None
    assert verifier.claims(idp.sign_token(idp.private_key(alg, "stranger"))) is None


@pytest.mark.parametrize(
    ("members", "is_accepted"),
    [
        ({"use": "sig"}, True),
        ({"alg": "RS256"}, True),
        ({"key_ops": ["verify"]}, True),
        ({"use": "enc"}, False),
        ({"alg": "RS512"}, False),
        ({"alg": "RSA-OAEP"}, False),
        ({"key_ops": ["encrypt"]}, False),
        ({"key_ops": []}, False),
        ({"e": "AQ"}, False),
        ({"n": "!"}, False),
        ({"n": 7}, False),
        ({"kty": "EC"}, False),
        ({"kty": "XYZ"}, False),
        ({"kty": ["RSA"]}, False),
        ({"kty": ...}, False),
    ],
)
def test_key_restrictions_are_respected_per_key(members, is_accepted):
    verifier = _verifier(
        idp.public_jwk(idp.private_key("RS256"), **members), 7, idp.public_jwk(idp.private_key("ES256"))
    )

    assert (verifier.claims(idp.sign_token(idp.private_key("RS256"))) is not None) is is_accepted
    assert verifier.claims(idp.sign_token(idp.private_key("ES256")))


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_short_rsa_key_is_rejected():
    short_key = RSAKey.generate_key(1024, {"kid": "short"})

    assert _verifier(idp.public_jwk(short_key)).claims(idp.sign_token(short_key)) is None


def test_private_key_in_the_set_is_ignored_with_a_warning(monkeypatch):
    warnings = []
    monkeypatch.setattr(key_sets._log, "warning", lambda event, **fields: warnings.append((event, fields["kid"])))
    private, shared = idp.private_key("ES256"), idp.symmetric_key(b"a shared secret that is long enough")

    verifier = _verifier(private.as_dict(private=True), {**shared.as_dict(private=True), "kid": "shared"})

    assert verifier.claims(idp.sign_token(private)) is None
    assert verifier.claims(idp.sign_token(shared, alg="HS256", kid="shared")) is None
    assert warnings == [("jwks.secret_key_ignored", "ES256-one"), ("jwks.secret_key_ignored", "shared")]


def test_key_in_the_token_header_is_not_used(verifier):
    stranger = idp.private_key("ES256", "stranger")
    url = "http://127.0.0.1:9/jwks"

    for header in ({"jwk": idp.public_jwk(stranger)}, {"jku": url}, {"x5u": url}, {"x5c": ["AAAA"]}):
        for kid in ("ES256-one", "ES256-stranger", ...):
            assert verifier.claims(idp.sign_token(stranger, **{"kid": kid, **header})) is None


@pytest.mark.parametrize("header", [{"jku": "http://127.0.0.1:9/"}, {"x5c": ["A" * 2000]}, {"cat": "1"}, {"typ": "x"}])
def test_unused_header_is_ignored(verifier, header):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256"), **header))


@pytest.mark.parametrize(
    "header",
    [
        {"crit": ["exp"]},
        {"crit": ["exp"], "exp": 1},
        {"crit": []},
        {"crit": "b64"},
        {"crit": None},
        {"crit": ["b64"], "b64": False},
        {"crit": ["b64"], "b64": True},
        {"crit": ["kid"]},
        {"b64": False},
        {"kid": 7},
        {"kid": None},
        {"kid": ["ES256-one"]},
    ],
)
def test_critical_or_malformed_header_is_rejected(verifier, header):
    assert verifier.claims(idp.sign_token(idp.private_key("ES256"), **header)) is None


@pytest.mark.parametrize("audience", [idp.AUDIENCE, [idp.AUDIENCE], ["other", idp.AUDIENCE]])
def test_audience_may_be_text_or_a_list(verifier, audience):
    assert verifier.claims(idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(aud=audience)))


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://id.example.com"},
        {"iss": "https://ID.example.com/"},
        {"iss": [idp.ISSUER]},
        {"iss": None},
        {"iss": ...},
        {"aud": "other"},
        {"aud": f"{idp.AUDIENCE} "},
        {"aud": ["other"]},
        {"aud": []},
        {"aud": ""},
        {"aud": [idp.AUDIENCE, 7]},
        {"aud": {idp.AUDIENCE: 1}},
        {"aud": None},
        {"aud": ...},
        {"exp": ...},
        {"exp": None},
        {"exp": True},
        {"exp": "9999999999"},
        {"exp": 0},
        {"exp": -1},
        {"exp": 10**18},
        {"exp": float("inf")},
        {"exp": float("nan")},
        {"nbf": "0"},
        {"nbf": True},
        {"nbf": 10**18},
        {"iat": "0"},
        {"iat": 10**18},
    ],
)
def test_wrong_issuer_audience_or_time_is_rejected(verifier, changes):
    assert verifier.claims(idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(**changes))) is None


@pytest.mark.parametrize(
    ("name", "seconds", "is_accepted"),
    [
        ("exp", -_LEEWAY_S + 1, True),
        ("exp", -_LEEWAY_S, False),
        ("nbf", _LEEWAY_S, True),
        ("nbf", _LEEWAY_S + 1, False),
        ("iat", _LEEWAY_S, True),
        ("iat", _LEEWAY_S + 1, False),
    ],
)
def test_clock_skew_of_30_seconds_is_tolerated(name, seconds, is_accepted):
    now = 1_800_000_000
    verifier = _verifier(idp.public_jwk(idp.private_key("EdDSA")), now=lambda: now + 0.9)
    good = {"iat": now, "exp": now + 600}

    claims = verifier.claims(
        idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(**{**good, name: now + seconds}))
    )

    assert (claims is not None) is is_accepted


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "...", "a", "a.b.c", "a.b.c.d.e", "é.é.é", "\0.\0.\0", "\ud800", " ", "W10.e30.",
     "e30.e30.e30", "x" * 8192],
)  # fmt: skip
def test_malformed_text_is_rejected(verifier, text):
    assert verifier.claims(text) is None


@pytest.mark.parametrize("value", [None, 7, b"a.b.c", ["a.b.c"]])
def test_non_text_value_is_rejected(verifier, value):
    assert verifier.claims(value) is None


@pytest.mark.parametrize(
    "head",
    [b"[]", b'["alg"]', b'"alg"', b"7", b"null", b"{", b"[" * 5000, b'{"alg":{"a":1}}',
     b'{"alg":"RS256","kid":"\\ud800"}', b"\xff\xfe"],
)  # fmt: skip
def test_malformed_header_is_rejected(verifier, head):
    assert verifier.claims(f"{idp.encode_base64url(head)}.e30.AAAA") is None


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"7", b"null", b'"x"', b"{", b"\xff", b"[" * 5000, b'{"exp":' + b"9" * 5000 + b"}",
     b'{"sub":"\\ud800"}'],
)  # fmt: skip
def test_signed_non_object_payload_is_rejected(verifier, body):
    assert verifier.claims(idp.sign_token(idp.private_key("EdDSA"), body)) is None


def test_nested_token_is_rejected(verifier):
    inner = idp.sign_token(idp.private_key("EdDSA"))

    assert verifier.claims(idp.sign_token(idp.private_key("EdDSA"), inner.encode(), cty="JWT")) is None


def test_oversized_token_is_rejected_unread(verifier):
    def token_with_padding(length: int) -> str:
        return idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(pad="x" * length))

    padding = next(n for n in range(5500, 6200) if len(token_with_padding(n)) > 8192)

    assert len(token_with_padding(padding - 1)) <= 8192
    assert verifier.claims(token_with_padding(padding - 1))
    assert verifier.claims(token_with_padding(padding)) is None
