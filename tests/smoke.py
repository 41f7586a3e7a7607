"""Uses a service that `make run` has started: pastes the printed curl and waits for conversion, override and delivery.

python -m tests.smoke LOG      LOG is what `make run` prints
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PATIENCE_S = 120


def main(log: Path) -> None:
    """Do what the banner says and check what it promises."""
    sale, conversions, deliveries = _wait_for(lambda: _commands(log), "the banner")
    answer = json.loads(_shell(sale))
    assert answer["ok"] is True, answer
    rows = _wait_for(lambda: _items(conversions, 2), "the conversion and its override")
    by_method = {row["attributionMethod"]: row for row in rows}
    assert by_method[None]["id"] == answer["conversionId"], rows
    assert by_method[None]["commissionCents"] == 2_000, rows
    assert by_method["sub_affiliate_override"]["commissionCents"] == 200, rows
    told = _wait_for(lambda: _delivered(deliveries), "both deliveries")
    print(f"smoke: conversion {answer['conversionId']}, its override and {len(told)} deliveries seen")


def _commands(log: Path) -> tuple[str, str, str] | None:
    lines = log.read_text(errors="replace").splitlines()
    pasted = [line for line in lines if line.startswith(("t=", "sig=", "curl "))]
    if len(pasted) < 5:
        return None
    return "\n".join(pasted[:3]), pasted[3], pasted[4]


def _items(command: str, number: int) -> list[dict[str, Any]] | None:
    items = json.loads(_shell(command))["items"]
    return items if len(items) == number else None


def _delivered(command: str) -> list[dict[str, Any]] | None:
    items = json.loads(_shell(command))["items"]
    return items if len(items) == 2 and all(item["status"] == "Delivered" for item in items) else None


def _shell(command: str) -> str:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30, check=False)
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
