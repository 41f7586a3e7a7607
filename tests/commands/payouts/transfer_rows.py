"""Rows of a rail's list, and what a reconcile says of them."""

from uuid import uuid4

from adapters import clock


def make_row(payroll, slug="ann", *, amount="20.00", **more):
    """Return a transfer that a forgotten payout has made, as its rail lists it."""
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
    """Return how many transfers came to what."""
    return {name: count for one in result["methods"] for name, count in one["outcomes"].items()}


def is_whole(flask, payroll):
    """Return whether no rule about the money is broken."""
    return flask.json("ledger", "check", "--org", payroll.brand.id)["broken"] == []


def problems(result):
    """Return the problems of the transfers that wait for a decision."""
    return [transfer["problem"] for transfer in result["open"]]
