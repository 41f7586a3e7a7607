"""Uses a service that `make run` has started: pastes what it prints, line by line, and checks what that promises.

python -m tests.smoke LOG      LOG is what `make run` prints
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PATIENCE_S = 120
# A line of the banner that is a command starts with one of these.
_COMMANDS = (
    "t=",
    "sig=",
    "curl ",
    "for ",
    "owner=",
    "total=",
    "one=",
    "coupon=",
    "nora=",
    "code=",
    "DATA_DIR=",
    "PORT=",
    ".venv/bin/flask ",
)
_LINES = 24


def main(log: Path) -> None:
    """Do what the banner says and check what it promises."""
    lines = _wait_for(lambda: _read_pasted_commands(log), "the banner")
    sale, conversions, deliveries = "\n".join(lines[:3]), lines[3], lines[4]
    # The second step is pasted right behind the first, and waits for what the sale leads to.
    answer, listed = (json.loads(line) for line in _shell(f"{sale}\n{conversions}").splitlines())
    assert answer["ok"] is True, answer
    rows = listed["items"]
    by_method = {row["attributionMethod"]: row for row in rows}
    assert by_method[None]["id"] == answer["conversionId"], rows
    assert by_method[None]["commissionCents"] == 2_000, rows
    assert by_method["sub_affiliate_override"]["commissionCents"] == 200, rows
    told = _wait_for(lambda: _list_if_delivered(deliveries, "conversion.created", 2), "both deliveries")
    print(f"smoke: conversion {answer['conversionId']}, its override and {len(told)} deliveries seen")
    _sell_by_gateway(lines[10:16])
    _redeem(lines[16:])
    _pay(lines[:10], by_method[None]["externalEventId"])


def _sell_by_gateway(lines: list[str]) -> None:
    """Let the second brand's gateway be paid twice and give a part back; its first brand's sales go on after that."""
    for act in lines[:3]:
        _shell(act)
    shown = _shell("\n".join(lines[3:])).splitlines()
    renewed, paid = json.loads(shown[0])["items"]
    assert (paid["type"], paid["commissionCents"], paid["refundedAmountCents"]) == ("OneTime", 1_470, 0), paid
    assert (renewed["type"], renewed["commissionCents"], renewed["refundedAmountCents"]) == ("Recurring", 1_170, 1_000)
    decided = json.loads(shown[1])
    assert (decided["conversionId"], decided["attributionMethod"]) == (paid["id"], "metadata_or_customer"), decided
    for kind, number in (("conversion.created", 2), ("conversion.refunded", 1)):
        _wait_for(
            lambda kind=kind, number=number: _list_if_delivered(lines[-1], kind, number), f"the deliveries of {kind}"
        )
    print(
        f"smoke: paid, renewed and refunded at the gateway, {paid['externalEventId']} and {renewed['externalEventId']}"
    )


def _redeem(lines: list[str]) -> None:
    """Have a coupon made and a code minted by its affiliate, redeemed by a payment that names nobody, and refunded."""
    code, *_, redeemed, listed, _, refunded = _shell("\n".join(lines)).splitlines()
    assert (before := json.loads(redeemed)["items"][0])["code"] == code, redeemed
    (conversion,) = json.loads(listed)["items"]
    # A fifth of 49.00 was taken off, and nora earns 30 % of the rest.
    assert (conversion["amountCents"], conversion["commissionCents"]) == (3_920, 1_176), conversion
    assert (conversion["attributionMethod"], conversion["couponCode"]) == ("coupon", code), conversion
    (after,) = json.loads(refunded)["items"]
    assert (before["redemptionCount"], after["redemptionCount"]) == (1, 0), (before, after)
    print(f"smoke: {code} was minted, redeemed and refunded")


def _pay(lines: list[str], order: str) -> None:
    """Pay what was sold, refund a half of it after that, sell more in three currencies: the next run nets it."""
    sale, deliveries, run, listed = "\n".join(lines[:3]), lines[4], "\n".join(lines[5:-1]), lines[-1]
    assert _answer(run)["totalCents"] == 2_200
    _wait_for(lambda: _list_if_paid(listed, 2), "the payouts")
    _wait_for(lambda: _list_if_delivered(deliveries, "payout.paid", 2), "the deliveries of payout.paid")
    assert _answer(_refund(sale, order, 5_000))["refundedAmountCents"] == 5_000
    for currency in ("USD", "EUR", "JPY"):
        assert _answer(_in(sale, currency))["ok"] is True
    # Ben gives back 10.00 of what he was paid; an override that was paid out stays with its recruiter.
    due = {"EUR": 2_200, "JPY": 2_200, "USD": 2_200 - 1_000}
    _wait_for(lambda: _preview(lines)["nativeTotalsForRun"] == due or None, f"what is due: {due}")
    assert _answer(run)["nativeTotalsForRun"] == due
    _wait_for(lambda: _list_if_paid(listed, 4), "the payouts of three currencies")
    told = _wait_for(lambda: _list_if_delivered(deliveries, "payout.paid", 4), "their deliveries")
    print(f"smoke: paid, refunded and netted in three currencies, {len(told)} payouts told")


def _read_pasted_commands(log: Path) -> list[str] | None:
    lines = log.read_text(errors="replace").splitlines()
    pasted = [line for line in lines if line.startswith(_COMMANDS)]
    return pasted[:_LINES] if len(pasted) >= _LINES else None


def _in(sale: str, currency: str) -> str:
    """Return the pasted sale in another currency, as another order than one of the same second."""
    return sale.replace("order-", f"order-{currency}-").replace('"USD"', f'"{currency}"')


def _refund(sale: str, order: str, cents: int) -> str:
    """Return the pasted sale as a refund."""
    body = json.dumps({"externalEventId": order, "refundAmountCents": cents}, separators=(",", ":"))
    return re.sub("body='.*'", lambda _: f"body='{body}'", sale).replace("/tracking/s2s", "/tracking/refund")


def _preview(lines: list[str]) -> dict[str, Any]:
    (line,) = (line for line in lines if line.startswith("total="))
    return _answer(line.removeprefix("total=$(").partition(" | ")[0])


def _answer(command: str) -> dict[str, Any]:
    """Return the JSON on the last line that a command prints."""
    found: dict[str, Any] = json.loads(_shell(command).splitlines()[-1])
    return found


def _items(command: str, number: int) -> list[dict[str, Any]] | None:
    items = json.loads(_shell(command))["items"]
    return items if len(items) == number else None


def _list_if_paid(command: str, number: int) -> list[dict[str, Any]] | None:
    items = _items(command, number)
    return items if items and all(item["status"] == "Paid" for item in items) else None


def _list_if_delivered(command: str, kind: str, number: int) -> list[dict[str, Any]] | None:
    items = [item for item in json.loads(_shell(command))["items"] if item["eventType"] == kind]
    return items if len(items) == number and all(item["status"] == "Delivered" for item in items) else None


def _shell(command: str) -> str:
    elsewhere = {name: value for name, value in os.environ.items() if name not in ("DATA_DIR", "PORT")}
    command_line = ["bash", "-c", command]
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, env=elsewhere)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _wait_for(look: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        found = look()
        if found is not None:
            return found
        time.sleep(0.2)
    raise SystemExit(f"smoke: {what} did not come within {_PATIENCE_S} s (PORT {os.environ.get('PORT')})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
