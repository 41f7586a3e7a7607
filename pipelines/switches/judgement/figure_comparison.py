"""The source's own figures beside the sums of the rows that were read, in slices."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from domain.switches.figures import TOTALS, FigureName
from domain.switches.reasons import SwitchWarning
from domain.switches.sources import Collection
from models.switches.judgement import figures, judging_state
from models.switches.judgement.figures import FigureRow, Sums
from models.switches.judgement.judging_state import JudgingCursor
from models.switches.staging import reading
from pipelines.switches.understanding.context import Judging

_SLICE = 500
#: Equal figures beyond these are counted but not listed in the preview.
MAX_LISTED = 200
#: The largest differences that are listed; the others are counted.
MAX_DIFFERING = 1_000
_DONE = "done"
_COLLECTION_OF_TOTAL = {name: collection for collection, name in TOTALS.items()}
_OF_AFFILIATE = {
    FigureName.Referrals: lambda sums: sums.referrals,
    FigureName.PayingCustomers: lambda sums: sums.paying_customers,
    FigureName.Sales: lambda sums: sums.sales,
    FigureName.SaleAmount: lambda sums: sums.sale_amount,
    FigureName.CommissionAmount: lambda sums: sums.commission_amount,
    FigureName.PaidCommission: lambda sums: sums.paid_commission,
    FigureName.Balance: lambda sums: sums.settled_commission - sums.paid_payouts,
    FigureName.PaidPayouts: lambda sums: sums.paid_commission,
}
_IN_ALL = {
    FigureName.Sales: ("sales",),
    FigureName.SaleAmount: ("gross_cents",),
    FigureName.CommissionAmount: ("paid_cents", "owed_cents", "pending_cents"),
    FigureName.PaidCommission: ("paid_cents",),
    FigureName.PaidPayouts: ("paid_cents",),
}
# Where the source names no currency, they are in the one that the brand chose, whichever it is now.
_AMOUNTS = (FigureName.SaleAmount, FigureName.CommissionAmount, FigureName.PaidCommission, FigureName.PaidPayouts)
_OF_CUSTOMER = {
    FigureName.CustomerSales: lambda sums: sums.sales,
    FigureName.CustomerSaleAmount: lambda sums: sums.sale_amount,
}


def compare_next(judging: Judging, cursors: Mapping[str, JudgingCursor]) -> bool:
    """Compare the next slice of figures and stage the result; return False if all are compared.

    The result is in the tally of the payouts, which have no verdicts.
    """
    state = cursors[Collection.Payouts]
    if state.judged_to == _DONE:
        return False
    after = _parse(state.judged_to)
    stated = figures.list_slice(**judging.switch.key, after=after, limit=_SLICE)
    compared = _compare(judging, stated, cursors)
    is_last = len(stated) < _SLICE
    if is_last:
        compared += _compare_payouts(judging, cursors)
    cursor = _DONE if is_last else json.dumps(stated[-1][:3])
    tally = _add(state.tally, compared)
    judging_state.stage_judged(**judging.switch.key, collection=Collection.Payouts, cursor=cursor, tally=tally)
    return True


def _parse(cursor: str | None) -> tuple[str, str, str]:
    if not cursor:
        return "", "", ""
    name, subject, currency = json.loads(cursor)
    return name, subject, currency


def _add(tally: Mapping[str, Any], compared: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tally with more figures: those that differ most, and the first of those that do not."""
    differing = [*tally.get("differing", ()), *(row for row in compared if row["difference"])]
    omitted = tally.get("omitted", 0) + max(len(differing) - MAX_DIFFERING, 0)
    differing = sorted(differing, key=lambda row: -abs(row["difference"]))[:MAX_DIFFERING]
    equal = [row for row in compared if not row["difference"]]
    listed = [*tally.get("equal", ()), *equal]
    return {"differing": differing, "equal": listed[:MAX_LISTED], "omitted": omitted}


def _compare(
    judging: Judging, stated: Sequence[FigureRow], cursors: Mapping[str, JudgingCursor]
) -> list[dict[str, Any]]:
    of_affiliates = _subjects(stated, _OF_AFFILIATE)
    sums = figures.sum_of_affiliates(**judging.switch.key, subjects=of_affiliates)
    of_customers = figures.sum_of_customers(**judging.switch.key, subjects=_subjects(stated, _OF_CUSTOMER))
    groups = figures.count_groups(
        **judging.switch.key, names=[row.subject for row in stated if row.name == FigureName.GroupAffiliates]
    )
    problems = figures.list_problems(**judging.switch.key, affiliate_refs=sorted({ref for ref, _ in of_affiliates}))
    compared = []
    for figure in stated:
        read = _read(figure, sums, of_customers, groups, cursors)
        if read is not None:
            explained = problems.get(figure.subject, []) if figure.value != read else []
            currency = figure.currency or (judging.options.currency or "" if figure.name in _AMOUNTS else "")
            compared.append(
                _row(figure.name, figure.label or figure.subject or None, currency, figure.value, read)
                | {"explained": explained}
            )
    return compared


def _subjects(stated: Sequence[FigureRow], names: Mapping[Any, Any]) -> list[tuple[str, str]]:
    return sorted({(row.subject, row.currency) for row in stated if row.name in names})


def _read(
    figure: FigureRow,
    sums: Mapping[tuple[str, str], Sums],
    of_customers: Mapping[tuple[str, str], Sums],
    groups: Mapping[str, int],
    cursors: Mapping[str, JudgingCursor],
) -> int | None:
    """Return the sum of rows that a figure is compared with; None for one that is not compared."""
    if figure.name in _COLLECTION_OF_TOTAL:
        collection = _COLLECTION_OF_TOTAL[FigureName(figure.name)]
        return _count_rows(cursors[collection])
    if figure.name == FigureName.GroupAffiliates:
        return groups.get(figure.subject, 0)
    if not figure.subject:
        return _read_in_all(figure, cursors)
    subject = (figure.subject, figure.currency)
    for names, rows in ((_OF_AFFILIATE, sums), (_OF_CUSTOMER, of_customers)):
        if figure.name in names:
            row = rows.get(subject)
            return int(names[FigureName(figure.name)](row)) if row else 0
    return None


def _read_in_all(figure: FigureRow, cursors: Mapping[str, JudgingCursor]) -> int | None:
    """Return the sum of all rows that a figure of the whole account is compared with; None for an unknown one."""
    if figure.name == FigureName.Referrals:
        return _count_rows(cursors[Collection.Customers])
    if figure.name not in _IN_ALL:
        return None
    money = cursors[Collection.Commissions].tally.get("money", {})
    chosen = [money[figure.currency]] if figure.currency in money else [] if figure.currency else money.values()
    return sum(sums[name] for sums in chosen for name in _IN_ALL[FigureName(figure.name)])


def _count_rows(cursor: JudgingCursor) -> int:
    """Return how many rows of the source's list were read; rows that others imply are not in it."""
    counts = dict(cursor.tally.get("counts", {}))
    if not counts:
        return cursor.read  # payouts have no verdicts
    return sum(counts.values()) - 2 * counts.get("implied", 0)


def _compare_payouts(judging: Judging, cursors: Mapping[str, JudgingCursor]) -> list[dict[str, Any]]:
    """Return the payouts that were read beside the commissions that are paid, by currency."""
    paid_out = figures.sum_payouts(**judging.switch.key)
    money = cursors[Collection.Commissions].tally.get("money", {})
    paid = {currency: sums["paid_cents"] for currency, sums in money.items() if sums["paid_cents"]}
    compared = sorted({*paid_out, *paid}) if paid_out or _were_payouts_read(judging) else []
    return [
        _row(FigureName.PaidPayouts, None, currency, paid_out.get(currency, 0), paid.get(currency, 0))
        | {"explained": []}
        for currency in compared
    ]


def _were_payouts_read(judging: Judging) -> bool:
    """Return whether the account has a list of payouts, so that without any row it has none."""
    lists = [row for row in reading.list_lists(**judging.switch.key) if row.collection == Collection.Payouts]
    lacking = (each["code"] == SwitchWarning.CollectionNotAvailable for row in lists for each in row.warnings)
    return bool(lists) and not any(lacking)


def _row(name: str, of: str | None, currency: str, theirs: int, read: int) -> dict[str, Any]:
    return {
        "name": str(name),
        "of": of,
        "currency": currency or None,
        "theirs": theirs,
        "read": read,
        "difference": theirs - read,
    }


def list_compared(cursors: Mapping[str, JudgingCursor]) -> list[Mapping[str, Any]]:
    """Return the compared figures for the preview: those that differ first, then the others up to the limit."""
    tally = cursors[Collection.Payouts].tally
    return [*tally.get("differing", ()), *tally.get("equal", ())]


def count_omitted(cursors: Mapping[str, JudgingCursor]) -> int:
    """Return how many figures differ besides those in `list_compared`."""
    return int(cursors[Collection.Payouts].tally.get("omitted", 0))
