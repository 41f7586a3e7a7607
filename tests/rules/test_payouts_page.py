"""The tables and numbers of docs/payouts.md match the code."""

import re
from pathlib import Path

from api.payouts.runs import GATE_REFUSALS
from domain.money import valuation
from domain.payouts import gates
from domain.payouts.plan import BlockReason
from domain.payouts.states import PayoutStatus
from domain.payouts.transfers import Method

_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "payouts.md").read_text()
_NUMBER_WORDS = {3: "three", 7: "seven"}


def _read_first_column(heading: str) -> list[str]:
    """Return the first column of a chapter's table, without the header."""
    chapter = _PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (.+?) \|", chapter, re.MULTILINE)[1:]


def test_every_hold_reason_is_documented():
    assert _read_first_column("What is due") == [f"`{reason}`" for reason in BlockReason]


def test_gates_are_documented_in_order():
    assert _read_first_column("Whether a brand may pay") == [
        f"`{refusal.removeprefix('409 ')}`" for refusal in GATE_REFUSALS
    ]


def test_every_payout_method_is_documented():
    assert _read_first_column("How money reaches an affiliate") == [*Method]


def test_every_payout_status_is_documented():
    documented = [re.match(r"\w+", row)[0] for row in _read_first_column("A payout is stuck")]

    assert set(documented) == set(PayoutStatus)


def test_documented_numbers_match_the_code():
    assert f"{gates.CAP_CENTS // 100:,} USD in {gates.WINDOW.days} days" in _PAGE
    assert f"verified wait {_NUMBER_WORDS[gates.HOLD_PERIOD.days]} days" in _PAGE
    assert f"not older than {_NUMBER_WORDS[valuation.FRESH_DAYS]} days" in _PAGE
