"""Evaluation of DNS readings as proofs of a host name."""

from uuid import UUID

import pytest

from domain.host_proofs import records
from domain.host_proofs.records import CheckOutcome, DnsReading, DnsReply, ExpectedProof, ProofKind, ReplyKind

_OWN_TEXT, _OTHER_TEXT = "finderfee-verify=ours", "finderfee-verify=theirs"
_EXPECTED = ExpectedProof("go.acme.example", "affiliates.service.example", _OWN_TEXT)
_SERVICE_CHAIN = ("affiliates.service.example",)
_EMPTY, _NO_NAME = DnsReply(ReplyKind.Empty), DnsReply(ReplyKind.NoName)
_SILENT, _FAILED = DnsReply(ReplyKind.Silent), DnsReply(ReplyKind.Failed)


def _txt(*values):
    return DnsReply(ReplyKind.Found, values)


def _check(chain=(), end=_EMPTY, texts=_NO_NAME, addresses=_EMPTY):
    result = records.check(DnsReading(chain, end, addresses, texts), _EXPECTED)
    return result.outcome, result.proved_by, result.found_at_name, result.found_in_text


@pytest.mark.parametrize(
    ("reading", "outcome", "proved_by"),
    [
        ({"chain": _SERVICE_CHAIN}, CheckOutcome.Proved, ProofKind.Cname),
        ({"chain": ("cdn.example", *_SERVICE_CHAIN)}, CheckOutcome.Proved, ProofKind.Cname),
        ({"texts": _txt(_OWN_TEXT)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"texts": _txt("v=spf1 -all", f' "{_OWN_TEXT}" ', _OTHER_TEXT)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"chain": _SERVICE_CHAIN, "texts": _txt(_OWN_TEXT)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"end": _SILENT, "texts": _txt(_OWN_TEXT)}, CheckOutcome.Proved, ProofKind.Txt),
        ({"chain": _SERVICE_CHAIN, "texts": _txt("v=spf1 -all")}, CheckOutcome.Proved, ProofKind.Cname),
        # The CNAME leads to the service, but the TXT record names another brand of the service.
        ({"chain": _SERVICE_CHAIN, "texts": _txt(_OTHER_TEXT)}, CheckOutcome.Missing, None),
        ({"chain": _SERVICE_CHAIN, "texts": _SILENT}, CheckOutcome.Silent, None),
        ({"chain": _SERVICE_CHAIN, "texts": _FAILED}, CheckOutcome.Silent, None),
        ({"chain": ("shops.example.net",)}, CheckOutcome.Missing, None),
        ({"chain": ("shops.example.net",), "end": _NO_NAME}, CheckOutcome.Missing, None),
        ({"chain": ("shops.example.net",), "end": _FAILED}, CheckOutcome.Silent, None),
        ({"chain": ("x.affiliates.service.example",)}, CheckOutcome.Missing, None),
        ({"chain": ("affiliates.service.example.evil.example",)}, CheckOutcome.Missing, None),
        ({"end": _NO_NAME}, CheckOutcome.Missing, None),
        ({"end": _SILENT}, CheckOutcome.Silent, None),
        ({"end": _FAILED}, CheckOutcome.Silent, None),
        ({"texts": _txt(_OWN_TEXT.upper())}, CheckOutcome.Missing, None),
        ({"texts": _txt(f"x{_OWN_TEXT}", f"{_OWN_TEXT}x")}, CheckOutcome.Missing, None),
    ],
    ids=str,
)
def test_cname_or_txt_record_proves_a_name(reading, outcome, proved_by):
    assert _check(**reading)[:2] == (outcome, proved_by)


def test_no_cname_proves_a_name_if_the_service_has_no_host_name():
    expected_proof = ExpectedProof("go.acme.example", None, _OWN_TEXT)

    result = records.check(DnsReading(("none",), _EMPTY, _EMPTY, _EMPTY), expected_proof)

    assert result.outcome == CheckOutcome.Missing


def test_missing_proof_describes_the_records_found():
    addresses = DnsReply(ReplyKind.Found, ("192.0.2.1", "2001:db8::1"))
    descriptions = {
        "CNAME": _check(chain=("shops.example.net",))[2:],
        "chain": _check(chain=("a.example", "b.example"), end=_SILENT)[2],
        "addresses": _check(addresses=addresses)[2],
        "nothing": _check(texts=_EMPTY)[2:],
        "no name": _check(end=_NO_NAME)[2],
        "silence": _check(end=_SILENT, texts=_FAILED)[2:],
        "texts": _check(texts=_txt("v=spf1 -all", "x"))[3],
        "another's": _check(texts=_txt("x", _OTHER_TEXT))[3],
    }

    assert descriptions == {
        "CNAME": ("CNAME shops.example.net", "no such name"),
        "chain": "CNAME a.example → b.example; behind it DNS is silent: try again",
        "addresses": "A 192.0.2.1, 2001:db8::1",
        "nothing": ("no record", "no record"),
        "no name": "no such name",
        "silence": ("DNS is silent: try again", "DNS fails: try again, or ask your DNS provider"),
        "texts": "TXT v=spf1 -all, x",
        "another's": f"TXT of another program or organization: {_OTHER_TEXT}",
    }


def test_foreign_txt_records_are_shortened_and_made_printable():
    description = _check(texts=_txt("a\x00\x1b[31m\u202e\n" + "x" * 60_000, *["y" * 300] * 40))[3]

    assert description.isprintable()
    assert len(description) < 600
    assert description.startswith("TXT a??[31m??x")


def test_proof_text_is_unique_per_organization_holder_and_name():
    organization, program, other = (UUID(int=number) for number in (1, 2, 3))
    arguments = {"organization_id": organization, "holder_id": program, "name": "go.acme.example"}
    changes = [{"organization_id": other}, {"holder_id": other}, {"holder_id": organization}, {"name": "acme.example"}]

    texts = {records.text_for(**arguments | change) for change in [{}, *changes]}

    assert len(texts) == 5
    assert records.text_for(**arguments) == records.text_for(**arguments)
    assert all(len(text) < 64 and text.startswith("finderfee-verify=") for text in texts)
