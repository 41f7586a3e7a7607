"""Words for the reasons for which rows are left out, for pages and files."""

from collections.abc import Mapping
from types import MappingProxyType

#: By the code of the reason.
REASON_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "status_excluded": "Left out by your options",
        "no_email": "No email address",
        "invalid_email": "The email address is not valid",
        "campaign_not_mapped": "Their campaign leads to no program",
        "affiliate_unknown": "Their affiliate is left out or unknown",
        "slug_taken": "Another affiliate of yours has this link name; a new one is created",
        "code_taken": "The coupon code is in use here",
        "code_archived": "The coupon code is archived there",
        "customer_without_affiliate": "The customer has no affiliate",
        "customer_without_name": "The customer has neither an id nor an email address",
        "moved_customer": "The customer was moved to another affiliate there",
        "lead_expired": "The referral expired there",
        "test_row": "Test data",
        "not_money": "Paid in points or credits, not in money",
        "unsupported_currency": "The currency is not supported",
        "amount_out_of_range": "The amount is out of range",
        "in_future": "The date is in the future",
        "after_cut_over": "Later than the time of the switch",
        "already_tracked": "Finderfee has recorded this sale itself",
        "negative_without_sale": "A refund whose sale was not found",
        "unknown_status": "The status is unknown",
        "id_known_elsewhere": "Another program has this id already",
        "unreadable_row": "The row can't be read",
    }
)
