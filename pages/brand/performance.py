"""The last 30 days on screens of a brand: a chart of each metric, and the best affiliates."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.programs.metrics import get_leaderboard, get_performance_metrics
from domain.money import wording
from pages import api_client, charts, template_filters
from pages.charts import Chart, ChartPoint

#: Operations of `create_charts` and `list_best_affiliates`.
USES = (get_performance_metrics, get_leaderboard)

_MAX_PLACES = 5


def create_charts(program_id: str | None = None) -> Sequence[Chart]:
    """Return charts of one program's metrics, or of all programs'; a metric without values has none.

    Money is in the home currency, less refunds; amounts without an exchange rate are `held` apart.
    """
    metrics = api_client.require(get_performance_metrics, query=_program_query(program_id))
    days, totals, currency = metrics["rows"], metrics["totals"], metrics["currency"]
    charts_by_kind = []
    for name, label in (("clicks", "Clicks"), ("sales", "Sales"), ("leads", "Leads")):
        points = [ChartPoint(day["key"], day[name], template_filters.format_number(day[name])) for day in days]
        charts_by_kind.append(charts.create_chart(label, points))
    for label, name, back in (("Revenue", "revenue", "refunded"), ("Commission", "commission", None)):
        amounts = [(day["key"], day[f"{name}Cents"] - (day[f"{back}Cents"] if back else 0)) for day in days]
        points = [ChartPoint(day, cents, wording.format_money(cents, currency)) for day, cents in amounts]
        charts_by_kind.append(charts.create_chart(label, points, _held_amounts(totals, name, back)))
    return [chart for chart in charts_by_kind if chart.has_anything]


def list_best_affiliates(program_id: str | None = None) -> Sequence[Mapping[str, Any]]:
    """Return the first places of the leaderboard by commission, of one program or of all."""
    query = {"metric": "commission", "limit": _MAX_PLACES} | _program_query(program_id)
    places: Sequence[Mapping[str, Any]] = api_client.require(get_leaderboard, query=query)
    return places


def _held_amounts(totals: Mapping[str, Any], name: str, deducted: str | None) -> Mapping[str, int]:
    """Return the amounts without an exchange rate in minor units by currency, less their refunds."""
    deductions = (totals[f"{deducted}UnconvertibleByCurrency"] if deducted else None) or {}
    unconverted = (totals[f"{name}UnconvertibleByCurrency"] or {}).items()
    return {currency: cents - deductions.get(currency, 0) for currency, cents in unconverted}


def _program_query(program_id: str | None) -> dict[str, object]:
    return {} if program_id is None else {"programId": program_id}
