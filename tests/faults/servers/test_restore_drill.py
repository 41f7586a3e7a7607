"""The runbook's "After a restore", typed: runs that the restored database has forgotten are not paid a second time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from domain.refusals import Refused
from tests.adapters.rails.fake_processor import FakeProcessor
from tests.faults.servers.restoring import Operator, following_log, restored
from tests.faults.test_deals import Deals
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.payroll import Payroll

_METHODS = {"ann": "ProcessorConnect", "cid": "ProcessorConnect", "dan": "GlobalPayouts", "eve": "Wallet"}
# Amounts of sales in minor units, by slug: 20 % of them is paid. The rate is 0.92 EUR for a dollar.
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
    """A brand that sells, and sells the same again when its server repeats what got lost."""

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
        """Post sales, each under an id that stays the same, so that known ones change nothing."""
        for slug, amount_cents, currency in sales:
            event_id = f"{self.shop.id}-{slug}-{amount_cents}"
            self.shop.sold.pop(event_id, None)
            self.shop.sell(event_id, affiliateSlug=slug, amount_cents=amount_cents, currency=currency)
        self.machine.wait_until_settled()

    def run(self) -> None:
        """Pay what is due, and wait until it is paid."""
        with self.machine.use_models():
            self.payroll.run()
        self.machine.wait_until_settled()

    def refused_run(self) -> str:
        """Try to pay what is due; return the code of the refusal."""
        with self.machine.use_models(), pytest.raises(Refused) as refusal:
            self.payroll.run()
        return refusal.value.code


def _sum_paid_by_account(service: FakeProcessor) -> dict[str, int]:
    """Return what the service paid to each account, in US cents."""
    sums: defaultdict[str, int] = defaultdict(int)
    for one in service.books:
        sums[one.account] += int(Decimal(one.amount).scaleb(2)) if one.method == "Wallet" else int(one.amount)
    return dict(sums)


def _wallet_list(service: FakeProcessor, path: Path) -> Path:
    """Write the wallet's payments as the operator copies them from its report; it is the one rail that has no list."""
    rows = [
        f"{one.id},{one.amount},{datetime.fromtimestamp(one.created).astimezone().isoformat()},{one.key},{one.account}"
        for one in service.books
        if one.method == "Wallet"
    ]
    path.write_text("\n".join(["reference,amount,paid_at,key,account", *rows]))
    return path


@pytest.mark.timeout(900)
@pytest.mark.parametrize("order", ["sales_first", "reconcile_first"])
def test_forgotten_runs_are_not_paid_again_in_either_order(
    machine: Machine, shop: Shop, service: FakeProcessor, tmp_path: Path, order: str
) -> None:
    # given: a moment to go back to, then sales and two runs that pay for them
    backups = tmp_path / "backups"
    brand = _Brand(machine, shop)
    with following_log(machine, backups):
        (moment,) = machine.rows("select clock_timestamp()")[0]
        for sales in (_FIRST_RUN, _SECOND_RUN):
            brand.sell(sales)
            brand.run()
        assert len(service.books) == len(_METHODS) + 1
    before = _sum_paid_by_account(service)

    with restored(machine, backups, tmp_path / "again", moment) as operator:
        assert operator("restore", "status")["held"]
        if order == "sales_first":
            brand.sell(_FIRST_RUN + _SECOND_RUN)
            assert brand.refused_run() == "payouts_on_hold"

        # when: it is typed as the runbook has it
        _type_reconcile(machine, operator, service, brand, moment, folder=tmp_path)
        operator("restore", "release", "--restored-to", moment.isoformat(), "--why", "compared with every rail")
        brand.sell(_FIRST_RUN + _SECOND_RUN)

        # then: nothing of it is due, and who earns more gets exactly that
        assert brand.refused_run() == "nothing_to_pay"
        assert _sum_paid_by_account(service) == before
        assert operator("ledger", "check")["broken"] == []
        brand.sell([("ann", 10_000, "USD"), ("dan", 4_600, "EUR")])
        brand.run()
        more = {"acct_ann": 2_000, "acct_dan": 1_000}
        assert _sum_paid_by_account(service) == {
            account: cents + more.get(account, 0) for account, cents in before.items()
        }
        assert operator("ledger", "check")["broken"] == []


def _type_reconcile(
    machine: Machine, operator: Operator, service: FakeProcessor, brand: _Brand, moment: datetime, *, folder: Path
) -> None:
    """Compare: too little at first, then killed in the middle, then twice at once, then again."""
    words = ["restore", "reconcile", "--restored-to", moment.isoformat()]
    assert "Traceback" not in operator(*words, code=1)
    status = operator("restore", "status")
    assert status["missing"] == ["Wallet", "Manual"]
    release = ("restore", "release", "--restored-to", moment.isoformat(), "--why", "in a hurry")
    assert "Wallet was not compared" in operator(*release, code=1)
    words += ["--list", f"Wallet={_wallet_list(service, folder / 'wallet.csv')}", "--none", "Manual"]
    with machine.hold_locks("lock table restored_transfer in exclusive mode"):
        killed = operator.start(*words, log=machine.home / "killed.out")
        machine.wait_for_lock_waiters(1, about="restored_transfer")
        killed.kill()
        killed.wait()
    assert "GlobalPayouts" in operator("restore", "status")["missing"]  # compared before, and now cut off
    at_once = [operator.start(*words, log=machine.home / f"reconcile-{number}.out") for number in range(2)]
    codes = [process.wait() for process in at_once]
    # The wallet's report says no currency, and this affiliate sells in two. Who ends first sees the other at work.
    assert sorted(codes) in ([0, 0], [0, 1])
    again = operator(*words)
    assert again["clean"]
    assert all(one["booked_cents"] == 0 for one in again["methods"])
    booked = machine.rows(
        "select count(*), sum(amount_cents) from payout where organization_id = %s and status = 'Paid'",
        str(brand.shop.id),
    )
    assert booked == [(len(service.books), sum(_sum_paid_by_account(service).values()))]


@pytest.mark.timeout(900)
def test_forgotten_charge_of_a_deal_is_found_when_it_is_funded_again(
    machine: Machine, shop: Shop, service: FakeProcessor, tmp_path: Path
) -> None:
    # given: deals that are accepted, and charged for after the time to go back to; the processor has forgotten the keys
    deals = Deals(machine, shop)
    with following_log(machine, tmp_path / "backups"):
        (moment,) = machine.rows("select clock_timestamp()")[0]
        deals.fund()
        machine.wait_until_settled()
    charges = sorted(one.id for one in service.books)
    assert len(charges) == len(deals.ids)
    service.expire_keys()

    # when
    with restored(machine, tmp_path / "backups", tmp_path / "again", moment) as operator:
        words = ("--restored-to", moment.isoformat())
        words_of_reconcile = ("restore", "reconcile", *words, "--none", "Wallet", "--none", "Manual")
        result = operator(*words_of_reconcile)
        assert result["clean"]
        assert {one["dealId"] for one in result["charges"]} == {str(deal_id) for deal_id in deals.ids}
        assert {one["problem"] for one in result["charges"]} == {"deal_not_funded"}
        operator("restore", "release", *words, "--why", "compared")
        deals.fund()
        machine.wait_until_settled()

        # then
        funded = "select status, count(*) from deal where organization_id = %s group by status"
        assert machine.rows(funded, str(shop.id)) == [("Funded", len(deals.ids))]
        assert sorted(one.id for one in service.books) == charges
        assert operator(*words_of_reconcile)["charges"] == []
        assert operator("ledger", "check")["broken"] == []
