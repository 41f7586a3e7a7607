"""Use a service that `make run` has started: paste the commands of its banner and check their results.

python -m tests.smoke LOG      LOG is the output of `make run`
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
# The command lines of the banner start with one of these.
_COMMAND_STARTS = (
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
_COMMAND_COUNT = 24


def main(log: Path) -> None:
    """Run the banner's commands and check their results."""
    lines = _wait_for(lambda: _read_pasted_commands(log), "the banner")
    sale, conversions, deliveries = "\n".join(lines[:3]), lines[3], lines[4]
    # The second step is pasted directly after the first, and waits for the sale's conversions.
    response, page = (json.loads(line) for line in _shell(f"{sale}\n{conversions}").splitlines())
    assert response["ok"] is True, response
    rows = page["items"]
    by_method = {row["attributionMethod"]: row for row in rows}
    assert by_method[None]["id"] == response["conversionId"], rows
    assert by_method[None]["commissionCents"] == 2_000, rows
    assert by_method["sub_affiliate_override"]["commissionCents"] == 200, rows
    delivered = _wait_for(lambda: _list_if_delivered(deliveries, "conversion.created", 2), "both deliveries")
    print(f"smoke: conversion {response['conversionId']}, its override and {len(delivered)} deliveries seen")
    _check_gateway_sales(lines[10:16])
    _check_coupon(lines[16:])
    _check_payouts(lines[:10], by_method[None]["externalEventId"])


def _check_gateway_sales(lines: list[str]) -> None:
    """Pay, renew and partly refund at the second brand's gateway; check the conversions and the deliveries."""
    for command in lines[:3]:
        _shell(command)
    output = _shell("\n".join(lines[3:])).splitlines()
    renewal, payment = json.loads(output[0])["items"]
    assert (payment["type"], payment["commissionCents"], payment["refundedAmountCents"]) == ("OneTime", 1_470, 0)
    assert (renewal["type"], renewal["commissionCents"], renewal["refundedAmountCents"]) == ("Recurring", 1_170, 1_000)
    attribution = json.loads(output[1])
    assert (attribution["conversionId"], attribution["attributionMethod"]) == (payment["id"], "metadata_or_customer")
    for kind, number in (("conversion.created", 2), ("conversion.refunded", 1)):
        _wait_for(
            lambda kind=kind, number=number: _list_if_delivered(lines[-1], kind, number), f"the deliveries of {kind}"
        )
    print(
        "smoke: paid, renewed and refunded at the gateway,"
        f" {payment['externalEventId']} and {renewal['externalEventId']}"
    )


def _check_coupon(lines: list[str]) -> None:
    """Create a coupon, mint a code of it, pay with the code only, and refund; check the conversion and the count."""
    code, *_, after_payment, conversions, _, after_refund = _shell("\n".join(lines)).splitlines()
    assert (before := json.loads(after_payment)["items"][0])["code"] == code, after_payment
    (conversion,) = json.loads(conversions)["items"]
    # The discount is a fifth of 49.00, and nora earns 30 % of the rest.
    assert (conversion["amountCents"], conversion["commissionCents"]) == (3_920, 1_176), conversion
    assert (conversion["attributionMethod"], conversion["couponCode"]) == ("coupon", code), conversion
    (after,) = json.loads(after_refund)["items"]
    assert (before["redemptionCount"], after["redemptionCount"]) == (1, 0), (before, after)
    print(f"smoke: {code} was minted, redeemed and refunded")


def _check_payouts(lines: list[str], order: str) -> None:
    """Pay the sale, refund half of it and sell in three currencies; check that the next run nets the refund."""
    sale, deliveries, run, payouts = "\n".join(lines[:3]), lines[4], "\n".join(lines[5:-1]), lines[-1]
    assert _read_json(run)["totalCents"] == 2_200
    _wait_for(lambda: _list_if_paid(payouts, 2), "the payouts")
    _wait_for(lambda: _list_if_delivered(deliveries, "payout.paid", 2), "the deliveries of payout.paid")
    assert _read_json(_to_refund(sale, order, 5_000))["refundedAmountCents"] == 5_000
    for currency in ("USD", "EUR", "JPY"):
        assert _read_json(_in_currency(sale, currency))["ok"] is True
    # Ben owes back 10.00 of his commission; the recruiter keeps a paid override.
    due = {"EUR": 2_200, "JPY": 2_200, "USD": 2_200 - 1_000}
    _wait_for(lambda: _preview(lines)["nativeTotalsForRun"] == due or None, f"a preview of {due}")
    assert _read_json(run)["nativeTotalsForRun"] == due
    _wait_for(lambda: _list_if_paid(payouts, 4), "the payouts of three currencies")
    delivered = _wait_for(lambda: _list_if_delivered(deliveries, "payout.paid", 4), "their deliveries")
    print(f"smoke: paid, refunded and netted in three currencies, {len(delivered)} payouts delivered")


def _read_pasted_commands(log: Path) -> list[str] | None:
    lines = log.read_text(errors="replace").splitlines()
    commands = [line for line in lines if line.startswith(_COMMAND_STARTS)]
    return commands[:_COMMAND_COUNT] if len(commands) >= _COMMAND_COUNT else None


def _in_currency(sale: str, currency: str) -> str:
    """Return the commands of the sale in another currency and with another order id."""
    return sale.replace("order-", f"order-{currency}-").replace('"USD"', f'"{currency}"')


def _to_refund(sale: str, order: str, cents: int) -> str:
    """Return the commands of the sale as those of a refund."""
    body = json.dumps({"externalEventId": order, "refundAmountCents": cents}, separators=(",", ":"))
    return re.sub("body='.*'", lambda _: f"body='{body}'", sale).replace("/tracking/s2s", "/tracking/refund")


def _preview(lines: list[str]) -> dict[str, Any]:
    (line,) = (line for line in lines if line.startswith("total="))
    return _read_json(line.removeprefix("total=$(").partition(" | ")[0])


def _read_json(command: str) -> dict[str, Any]:
    """Return the JSON on the last line that a command prints."""
    document: dict[str, Any] = json.loads(_shell(command).splitlines()[-1])
    return document


def _list_items(command: str, number: int) -> list[dict[str, Any]] | None:
    items = json.loads(_shell(command))["items"]
    return items if len(items) == number else None


def _list_if_paid(command: str, number: int) -> list[dict[str, Any]] | None:
    items = _list_items(command, number)
    return items if items and all(item["status"] == "Paid" for item in items) else None


def _list_if_delivered(command: str, kind: str, number: int) -> list[dict[str, Any]] | None:
    items = [item for item in json.loads(_shell(command))["items"] if item["eventType"] == kind]
    return items if len(items) == number and all(item["status"] == "Delivered" for item in items) else None


def _shell(command: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATA_DIR", "PORT")}
    command_line = ["bash", "-c", command]
    process = subprocess.run(
        command_line, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, env=environment
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def _wait_for(read: Callable[[], Any], description: str) -> Any:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        value = read()
        if value is not None:
            return value
        time.sleep(0.2)
    raise SystemExit(f"smoke: {description} did not appear within {_PATIENCE_S} s (PORT {os.environ.get('PORT')})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
