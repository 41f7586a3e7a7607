"""Rows of a rail's transfer list, and views of a reconcile result."""

from uuid import uuid4

from adapters import clock


def make_row(payroll, slug="ann", *, amount="20.00", **more):
    """Return a row for a transfer of a payout that the restored database lacks."""
    payout_id = uuid4()
    return {
        "reference": f"tr_{payout_id.hex}",
        "amount": amount,
        "paid_at": clock.now().isoformat(),
        "key": f"payout:{payout_id}:1",
        "organization_id": str(payroll.brand.id),
        "affiliate_id": str(payroll.affiliates[slug]),
        "account": f"acct_{slug}",
    } | more


def outcomes(result):
    """Return the number of transfers by outcome."""
    return {name: count for method in result["methods"] for name, count in method["outcomes"].items()}


def is_whole(flask, payroll):
    """Return whether the ledger check finds no broken rule."""
    return flask.json("ledger", "check", "--org", payroll.brand.id)["broken"] == []


def problems(result):
    """Return the problems of the transfers that wait for a decision."""
    return [transfer["problem"] for transfer in result["open"]]
