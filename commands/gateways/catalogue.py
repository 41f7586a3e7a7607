"""Capabilities of each payment gateway, from its adapter: `docs/connections.md` has the same table.

`python -m commands.gateways.catalogue` prints the table of the page.
"""

import sys
from collections.abc import Mapping

from adapters.gateways import registry
from adapters.gateways.adapter import GatewayAdapter

COLUMNS = ("gateway", "kind", "credentials", "coupons", "refunds", "history", "trials", "disputes", "leaves", "lacks")


def build_rows() -> list[Mapping[str, str]]:
    """Return a row for each gateway, by the names of COLUMNS."""
    return [_build_row(adapter) for adapter in registry.all_of_them()]


def render_table() -> str:
    """Return the rows as a table of the page, in Markdown."""
    lines = [f"| {' | '.join(name.capitalize() for name in COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    lines += [f"| {' | '.join(row[name].replace('|', '/') for name in COLUMNS)} |" for row in build_rows()]
    return "\n".join(lines) + "\n"


def _build_row(adapter: GatewayAdapter) -> Mapping[str, str]:
    can = adapter.capabilities
    polled = f"polled every {int(adapter.polls.total_seconds()) // 60} minutes" if adapter.polls else "polled nightly"
    return {
        "gateway": f"{adapter.label} ({adapter.name})",
        "kind": adapter.kind.replace("_", " "),
        "credentials": ", ".join(field.name if field.required else f"{field.name}?" for field in adapter.fields),
        "coupons": "yes" if can.coupons else "no",
        "refunds": "reported" if can.refunds == "webhook" else polled,
        "history": "yes" if can.history else "no",
        "trials": "leads" if can.trials else "no",
        "disputes": ", ".join(can.disputes) or "no",
        "leaves": "reported" if can.reports_removal else "no",
        "lacks": " ".join(can.lacks),
    }


if __name__ == "__main__":
    sys.stdout.write(render_table())
