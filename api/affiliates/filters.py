"""The filters of the list of affiliates and of its file."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from adapters import clock
from models.affiliates.listing.lists import AffiliateFilters


def from_query(query: Mapping[str, Any]) -> AffiliateFilters:
    """Return the filters of a loaded query (`schemas.affiliates.affiliate.AffiliateFilterQuery`)."""
    days = query["no_sales_for_days"]
    return AffiliateFilters(
        program_id=query["program_id"],
        status=query["status"],
        words=query["q"],
        sold_before=None if days is None else clock.now().date() - timedelta(days=days),
    )
