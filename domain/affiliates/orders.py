"""The sort orders of affiliates, each backed by an index. A `-` before a name sorts the highest first."""

#: The orders of the list, the default first.
BASIC = ("newest", "oldest", "name", "-name")
#: The orders by an all-time total.
OF_TOTALS = tuple(
    f"{sign}{name}" for name in ("clicks", "sales", "revenue", "commission", "lastSale") for sign in ("-", "")
)
OF_LAST_SALE = ("lastSale", "-lastSale")
ALL = (*BASIC, *OF_TOTALS)
