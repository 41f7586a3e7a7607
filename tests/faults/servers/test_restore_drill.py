"""The steps of the runbook's "After a restore": runs that the restored database has lost are not paid twice."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from domain.refusals import Refused
from tests.adapters.rails.fake_processor import FakeProcessor
from tests.faults.servers.restores import Operator, follow_log, restore_database
from tests.faults.test_deals import Deals
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.payroll import Payroll

_METHODS = {"ann": "ProcessorConnect", "cid": "ProcessorConnect", "dan": "GlobalPayouts", "eve": "Wallet"}
# Amounts of sales in minor units, by slug; affiliates get 20 %. The rate is 0.92 EUR per USD.
_FIRST_RUN = [
    ("ann", 12_345, "USD"),
    ("ann", 7_777, "EUR"),
    ("cid", 30_001, "EUR"),
    ("dan", 9_999, "USD"),
    ("eve", 5_055, "USD"),
    ("ann", 2_222, "USD"),
    ("cid", 4_000, "USD"),
    ("dan", 8_080, "EUR"),
    ("eve", 4_600, "EUR"),
]
_SECOND_RUN = [("ann", 6_000, "USD")]


class _Brand:
    """A brand that posts sales, and posts the same ones again after a restore has lost them."""

    def __init__(self, machine: Machine, shop: Shop) -> None:
        self.machine, self.shop = machine, shop
        with machine.use_models():
            self.payroll = Payroll(shop.brand)
            self.payroll.execute("update organization set verification_state = 'verified', payout_grace_days = 0")
            self.payroll.rate("EUR", "0.92")
            for slug, method in _METHODS.items():
                self.payroll.affiliate(slug, method=method)
            self.payroll.execute(
                "update affiliate set payout_destination = %s where payout_method = 'Wallet'", f"eve@{shop.id}.example"
            )

    def sell(self, sales: Sequence[tuple[str, int, str]]) -> None:
        """Post sales with ids that depend on their content, so that known ones change nothing."""
        for slug, amount_cents, currency in sales:
            event_id = f"{self.shop.id}-{slug}-{amount_cents}"
            self.shop.sold.pop(event_id, None)
            self.shop.sell(event_id, affiliateSlug=slug, amount_cents=amount_cents, currency=currency)
        self.machine.wait_until_settled()

    def run(self) -> None:
        """Run payouts and wait until they are paid."""
        with self.machine.use_models():
            self.payroll.run()
        self.machine.wait_until_settled()

    def try_run(self) -> str:
        """Run payouts, which must be refused, and return the error code."""
        with self.machine.use_models(), pytest.raises(Refused) as refusal:
            self.payroll.run()
        return refusal.value.code


def _sum_paid_by_account(processor: FakeProcessor) -> dict[str, int]:
    """Return the sum that the payment service paid to each account, in US cents."""
    sums: defaultdict[str, int] = defaultdict(int)
    for payment in processor.books:
        is_wallet = payment.method == "Wallet"
        sums[payment.account] += int(Decimal(payment.amount).scaleb(2)) if is_wallet else int(payment.amount)
    return dict(sums)


def _write_wallet_list(processor: FakeProcessor, path: Path) -> Path:
    """Write the wallet's payments to a file, as operators copy them from its report: only this rail has no list."""
    rows = [
        f"{paid.id},{paid.amount},{datetime.fromtimestamp(paid.created).astimezone().isoformat()},{paid.key},{paid.account}"
        for paid in processor.books
        if paid.method == "Wallet"
    ]
    path.write_text("\n".join(["reference,amount,paid_at,key,account", *rows]))
    return path


@pytest.mark.timeout(900)
@pytest.mark.parametrize("order", ["sales_first", "reconcile_first"])
def test_forgotten_runs_are_not_paid_again_in_either_order(
    machine: Machine, shop: Shop, processor: FakeProcessor, tmp_path: Path, order: str
) -> None:
    # given: a time to restore to, then sales and two runs that pay for them
    backups = tmp_path / "backups"
    brand = _Brand(machine, shop)
    with follow_log(machine, backups):
        (restore_to,) = machine.rows("select clock_timestamp()")[0]
        for sales in (_FIRST_RUN, _SECOND_RUN):
            brand.sell(sales)
            brand.run()
        assert len(processor.books) == len(_METHODS) + 1
    before = _sum_paid_by_account(processor)

    with restore_database(machine, backups, tmp_path / "again", restore_to) as operator:
        assert operator("restore", "status")["held"]
        if order == "sales_first":
            brand.sell(_FIRST_RUN + _SECOND_RUN)
            assert brand.try_run() == "payouts_on_hold"

        # when: the operator follows the runbook
        _reconcile(machine, operator, processor, brand, restore_to, folder=tmp_path)
        operator("restore", "release", "--restored-to", restore_to.isoformat(), "--why", "compared with every rail")
        brand.sell(_FIRST_RUN + _SECOND_RUN)

        # then: none of it is due, and later sales are paid exactly
        assert brand.try_run() == "nothing_to_pay"
        assert _sum_paid_by_account(processor) == before
        assert operator("ledger", "check")["broken"] == []
        brand.sell([("ann", 10_000, "USD"), ("dan", 4_600, "EUR")])
        brand.run()
        new_cents = {"acct_ann": 2_000, "acct_dan": 1_000}
        assert _sum_paid_by_account(processor) == {
            account: cents + new_cents.get(account, 0) for account, cents in before.items()
        }
        assert operator("ledger", "check")["broken"] == []


def _reconcile(
    machine: Machine, operator: Operator, processor: FakeProcessor, brand: _Brand, restore_to: datetime, *, folder: Path
) -> None:
    """Reconcile: at first incompletely, then killed in the middle, then twice at the same time, then once more."""
    words = ["restore", "reconcile", "--restored-to", restore_to.isoformat()]
    assert "Traceback" not in operator(*words, code=1)
    status = operator("restore", "status")
    assert status["missing"] == ["Wallet", "Manual"]
    release = ("restore", "release", "--restored-to", restore_to.isoformat(), "--why", "in a hurry")
    assert "Wallet was not compared" in operator(*release, code=1)
    words += ["--list", f"Wallet={_write_wallet_list(processor, folder / 'wallet.csv')}", "--none", "Manual"]
    with machine.hold_locks("lock table restored_transfer in exclusive mode"):
        killed = operator.start(*words, log=machine.home / "killed.out")
        machine.wait_for_lock_waiters(1, about="restored_transfer")
        killed.kill()
        killed.wait()
    assert "GlobalPayouts" in operator("restore", "status")["missing"]  # compared before, and now interrupted
    concurrent = [operator.start(*words, log=machine.home / f"reconcile-{number}.out") for number in range(2)]
    codes = [process.wait() for process in concurrent]
    # The wallet's report has no currency, and this affiliate sells in two. The first to end sees the other one run.
    assert sorted(codes) in ([0, 0], [0, 1])
    result = operator(*words)
    assert result["clean"]
    assert all(method["booked_cents"] == 0 for method in result["methods"])
    payout_totals = machine.rows(
        "select count(*), sum(amount_cents) from payout where organization_id = %s and status = 'Paid'",
        str(brand.shop.id),
    )
    assert payout_totals == [(len(processor.books), sum(_sum_paid_by_account(processor).values()))]


@pytest.mark.timeout(900)
def test_forgotten_charge_of_a_deal_is_found_when_it_is_funded_again(
    machine: Machine, shop: Shop, processor: FakeProcessor, tmp_path: Path
) -> None:
    # given: deals that are charged after the time to restore to; the processor has forgotten the idempotency keys
    deals = Deals(machine, shop)
    with follow_log(machine, tmp_path / "backups"):
        (restore_to,) = machine.rows("select clock_timestamp()")[0]
        deals.fund()
        machine.wait_until_settled()
    charges = sorted(payment.id for payment in processor.books)
    assert len(charges) == len(deals.ids)
    processor.expire_keys()

    # when
    with restore_database(machine, tmp_path / "backups", tmp_path / "again", restore_to) as operator:
        restored_to = ("--restored-to", restore_to.isoformat())
        reconcile = ("restore", "reconcile", *restored_to, "--none", "Wallet", "--none", "Manual")
        result = operator(*reconcile)
        assert result["clean"]
        assert {charge["dealId"] for charge in result["charges"]} == {str(deal_id) for deal_id in deals.ids}
        assert {charge["problem"] for charge in result["charges"]} == {"deal_not_funded"}
        operator("restore", "release", *restored_to, "--why", "compared")
        deals.fund()
        machine.wait_until_settled()

        # then
        funded = "select status, count(*) from deal where organization_id = %s group by status"
        assert machine.rows(funded, str(shop.id)) == [("Funded", len(deals.ids))]
        assert sorted(payment.id for payment in processor.books) == charges
        assert operator(*reconcile)["charges"] == []
        assert operator("ledger", "check")["broken"] == []
