"""The bearer value of an embed token: made again it is the same, changed anywhere it is nobody's."""

from uuid import UUID

from adapters import embed_bearer

_ID = UUID("0190f3a2-6c1b-7c0e-9a57-3f0c5f1f7a11")


def test_it_says_what_it_is_for_and_is_always_the_same():
    made = embed_bearer.encode(_ID, 7)

    assert made == embed_bearer.encode(_ID, 7)
    assert embed_bearer.decode(made) == (_ID, 7)
    assert made not in (embed_bearer.encode(_ID, 8), embed_bearer.encode(UUID(int=1), 7))


def test_changed_in_any_place_it_is_forged():
    made = embed_bearer.encode(_ID, 2**31 - 1)
    forged = [made[:at] + ("A" if made[at] != "A" else "B") + made[at + 1 :] for at in range(len(made))]

    assert [text for text in forged if embed_bearer.decode(text) is not None] == []


def test_what_looks_a_little_like_it_is_none():
    made = embed_bearer.encode(_ID, 1)
    strange = ["", "ff_emb_", made + "=", made[:-1], f" {made}", made.upper(), made.replace("ff_emb_", "ff_live_")]
    strange += ["ff_emb_" + "é" * 64, "ff_emb_" + "!" * 64, "ff_emb_" + "A" * 64, "ff_emb_" + "\x00" * 64]

    assert [text for text in strange if embed_bearer.decode(text) is not None] == []
