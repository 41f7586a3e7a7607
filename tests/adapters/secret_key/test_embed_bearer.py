"""The bearer value of an embed token is deterministic, and any change to it invalidates it."""

from uuid import UUID

from adapters.secret_key import embed_bearer

_ID = UUID("0190f3a2-6c1b-7c0e-9a57-3f0c5f1f7a11")


def test_bearer_is_deterministic_and_decodes():
    bearer = embed_bearer.encode(_ID, 7)

    assert bearer == embed_bearer.encode(_ID, 7)
    assert embed_bearer.decode(bearer) == (_ID, 7)
    assert bearer not in (embed_bearer.encode(_ID, 8), embed_bearer.encode(UUID(int=1), 7))


def test_bearer_changed_anywhere_does_not_decode():
    bearer = embed_bearer.encode(_ID, 2**31 - 1)
    forged = [bearer[:at] + ("A" if bearer[at] != "A" else "B") + bearer[at + 1 :] for at in range(len(bearer))]

    assert [text for text in forged if embed_bearer.decode(text) is not None] == []


def test_malformed_bearer_does_not_decode():
    bearer = embed_bearer.encode(_ID, 1)
    malformed = [
        "",
        "ff_emb_",
        bearer + "=",
        bearer[:-1],
        f" {bearer}",
        bearer.upper(),
        bearer.replace("ff_emb_", "ff_live_"),
    ]
    malformed += ["ff_emb_" + "é" * 64, "ff_emb_" + "!" * 64, "ff_emb_" + "A" * 64, "ff_emb_" + "\x00" * 64]

    assert [text for text in malformed if embed_bearer.decode(text) is not None] == []
