"""What a reading of DNS comes to."""

from uuid import UUID

import pytest

from domain.host_proofs import records
from domain.host_proofs.records import CheckOutcome, DnsReading, DnsReply, ExpectedProof, ProofKind, ReplyKind

_OURS, _OTHERS = "finderfee-verify=ours", "finderfee-verify=theirs"
_WANTED = ExpectedProof("go.acme.example", "affiliates.service.example", _OURS)
_HERE = ("affiliates.service.example",)
_EMPTY, _NO_NAME = DnsReply(ReplyKind.Empty), DnsReply(ReplyKind.NoName)
_SILENT, _FAILED = DnsReply(ReplyKind.Silent), DnsReply(ReplyKind.Failed)


def _txt(*values):
    return DnsReply(ReplyKind.Found, values)


def _judged(chain=(), end=_EMPTY, texts=_NO_NAME, addresses=_EMPTY):
    seen = records.check(DnsReading(chain, end, addresses, texts), _WANTED)
    return seen.outcome, seen.proved_by, seen.found_at_name, seen.found_in_text


@pytest.mark.parametrize(
    ("read", "outcome", "proved_by"),
    [
        ({"chain": _HERE}, CheckOutcome.Proved, ProofKind.Cname),
        ({"chain": ("cdn.example", *_HERE)}, CheckOutcome.Proved, ProofKind.Cname),
        ({"texts": _txt(_OURS)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"texts": _txt("v=spf1 -all", f' "{_OURS}" ', _OTHERS)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"chain": _HERE, "texts": _txt(_OURS)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"end": _SILENT, "texts": _txt(_OURS)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"chain": _HERE, "texts": _txt("v=spf1 -all")}, CheckOutcome.Proved, ProofKind.Cname),
        # A CNAME leads to the service, which has many brands; the text says that another one is meant.
        ({"chain": _HERE, "texts": _txt(_OTHERS)}, CheckOutcome.Missing, None),
        ({"chain": _HERE, "texts": _SILENT}, CheckOutcome.Silent, None),
        ({"chain": _HERE, "texts": _FAILED}, CheckOutcome.Silent, None),
        ({"chain": ("shops.example.net",)}, CheckOutcome.Missing, None),
        ({"chain": ("shops.example.net",), "end": _NO_NAME}, CheckOutcome.Missing, None),
        ({"chain": ("shops.example.net",), "end": _FAILED}, CheckOutcome.Silent, None),
        ({"chain": ("x.affiliates.service.example",)}, CheckOutcome.Missing, None),
        ({"chain": ("affiliates.service.example.evil.example",)}, CheckOutcome.Missing, None),
        ({"end": _NO_NAME}, CheckOutcome.Missing, None),
        ({"end": _SILENT}, CheckOutcome.Silent, None),
        ({"end": _FAILED}, CheckOutcome.Silent, None),
        ({"texts": _txt(_OURS.upper())}, CheckOutcome.Missing, None),
        ({"texts": _txt(f"x{_OURS}", f"{_OURS}x")}, CheckOutcome.Missing, None),
    ],
    ids=str,
)
def test_what_proves_a_name(read, outcome, proved_by):
    assert _judged(**read)[:2] == (outcome, proved_by)


def test_without_a_name_of_its_own_the_service_is_led_to_by_nothing():
    wanted = ExpectedProof("go.acme.example", None, _OURS)

    seen = records.check(DnsReading(("none",), _EMPTY, _EMPTY, _EMPTY), wanted)

    assert seen.outcome == CheckOutcome.Missing


def test_what_was_found_instead_is_said_in_words():
    addresses = DnsReply(ReplyKind.Found, ("192.0.2.1", "2001:db8::1"))
    said = {
        "CNAME": _judged(chain=("shops.example.net",))[2:],
        "chain": _judged(chain=("a.example", "b.example"), end=_SILENT)[2],
        "addresses": _judged(addresses=addresses)[2],
        "nothing": _judged(texts=_EMPTY)[2:],
        "no name": _judged(end=_NO_NAME)[2],
        "silence": _judged(end=_SILENT, texts=_FAILED)[2:],
        "texts": _judged(texts=_txt("v=spf1 -all", "x"))[3],
        "another's": _judged(texts=_txt("x", _OTHERS))[3],
    }

    assert said == {
        "CNAME": ("CNAME shops.example.net", "no such name"),
        "chain": "CNAME a.example → b.example; behind it DNS is silent: try again",
        "addresses": "A 192.0.2.1, 2001:db8::1",
        "nothing": ("no record", "no record"),
        "no name": "no such name",
        "silence": ("DNS is silent: try again", "DNS fails: try again, or ask whoever runs the name servers"),
        "texts": "TXT v=spf1 -all, x",
        "another's": f"TXT of another program or organization: {_OTHERS}",
    }


def test_words_of_strangers_are_cut_and_cleaned():
    said = _judged(texts=_txt("a\x00\x1b[31m\u202e\n" + "x" * 60_000, *["y" * 300] * 40))[3]

    assert said.isprintable()
    assert len(said) < 600
    assert said.startswith("TXT a??[31m??x")


def test_the_text_names_one_holder_of_one_name():
    organization, program, other = (UUID(int=number) for number in (1, 2, 3))
    asked = {"organization_id": organization, "holder_id": program, "name": "go.acme.example"}
    changed = [{"organization_id": other}, {"holder_id": other}, {"holder_id": organization}, {"name": "acme.example"}]

    texts = {records.text_for(**asked | change) for change in [{}, *changed]}

    assert len(texts) == 5
    assert records.text_for(**asked) == records.text_for(**asked)
    assert all(len(text) < 64 and text.startswith("finderfee-verify=") for text in texts)
