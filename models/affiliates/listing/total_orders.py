"""SQL of the list of affiliates in the order of one of their totals, each order with an index in both directions.

The indexes are per status, so a page merges the first rows of each status and reads no others, whatever the number of
affiliates. Text is searched row by row.
"""

from typing import NamedTuple

from domain.statuses import AffiliateStatus

_COLUMNS = {
    "clicks": "clicks",
    "sales": "sales",
    "revenue": "revenue_cents",
    "commission": "commission_cents",
    "lastSale": "last_sale_on",
}

# The number of a day in a cursor.
_FIRST_DAY = "date '1970-01-01'"
_STATUSES = ", ".join(f"('{status}')" for status in AffiliateStatus)
_CONDITIONS = {
    "program_id": "t.program_id = %(program_id)s",
    "sold_before": "t.last_sale_on < %(sold_before)s",
    "words": """exists (select from affiliate w where w.organization_id = t.organization_id and w.id = t.affiliate_id
      and strpos(w.name_sought || ' ' || w.email, lower(%(words)s)) > 0)""",
}


class TotalOrder(NamedTuple):
    """An order by a total: the column, and whether the highest comes first."""

    column: str
    is_descending: bool

    @classmethod
    def from_name(cls, name: str) -> "TotalOrder":
        """Return the order of a name in `orders.OF_TOTALS`."""
        return cls(_COLUMNS[name.removeprefix("-")], name.startswith("-"))

    @property
    def _is_day(self) -> bool:
        return self.column == _COLUMNS["lastSale"]

    def ids_sql(self, filter_names: tuple[str, ...], *, has_position: bool) -> str:
        """Return SQL of rows `k` of `affiliate_id` and `place`, the number that a cursor holds, in this order.

        Parameters: `organization_id`, `limit`, `skip`, those of the
        filters, and with a position `before` and `before_id`.
        """
        direction = " desc" if self.is_descending else ""
        conditions = ["t.organization_id = %(organization_id)s", "t.status = s.status", "not t.is_deleted"]
        conditions += [_CONDITIONS[name] for name in filter_names if name in _CONDITIONS]
        if has_position:
            conditions.append(
                f"(t.{self.column}, t.affiliate_id) {'<' if self.is_descending else '>'} {self._position}"
            )
        statuses = "(values (%(status)s::text))" if "status" in filter_names else f"(values {_STATUSES})"
        return f"""(
  select t.affiliate_id, {self._place} as place, t.value
  from {statuses} s (status) cross join lateral (
    select t.affiliate_id, t.{self.column} as value from affiliate_total t where {" and ".join(conditions)}
    order by t.{self.column}{direction}, t.affiliate_id{direction} limit %(limit)s::bigint + %(skip)s::bigint
  ) t order by t.value{direction}, t.affiliate_id{direction} limit %(limit)s offset %(skip)s
) k"""

    @property
    def order_sql(self) -> str:
        """SQL of the order of rows `k`."""
        direction = " desc" if self.is_descending else ""
        return f"k.value{direction}, k.affiliate_id{direction}"

    @property
    def _place(self) -> str:
        if self._is_day:
            return f"(t.value - {_FIRST_DAY})::bigint"
        return "least(greatest(t.value, -9223372036854775808), 9223372036854775807)::bigint"

    @property
    def _position(self) -> str:
        if self._is_day:
            value = f"{_FIRST_DAY} + %(before)s::int"
        else:
            value = "%(before)s::numeric" if self.column.endswith("_cents") else "%(before)s::bigint"
        return f"({value}, %(before_id)s::uuid)"
