"""SQL for the customers of a former system (`models.switches.brought_customers`) who may be the buyer of a payment."""


def same_id_sql(name: str, email: str) -> str:
    """Return SQL for whether the buyer's id (the parameter `name`), found without a gateway, is of the same person.

    Different shops number their customers alike, so an id of digits counts only if the emails agree or one is unknown.
    """
    return f"""(%({name})s !~ '^[0-9]+$' or {email} is null or %(email)s::text is null or {email} = %(email)s)"""


_BROUGHT = "from brought_customer b where b.organization_id = %(org)s"
#: Conditions for a brought customer `b` by what names the buyer.
_BY = {
    "subscription": f"b.subscription_id = %(subscription)s and {same_id_sql('subscription', 'b.email_normalized')}",
    "customer": f"b.customer_id = %(customer)s and {same_id_sql('customer', 'b.email_normalized')}",
    "email": "b.email_normalized = %(email)s",
}
#: Selects of affiliate and time of evidence, by what names the buyer: as if the newest old sale had been booked here.
EVIDENCE = {
    by: f"select b.affiliate_id, b.seen_at {_BROUGHT} and not %(is_test)s and b.seen_at <= %(at)s and {condition}"
    for by, condition in _BY.items()
}
_SIGNED_SINCE = f"""exists (
    select from sale s where s.organization_id = %(org)s and not s.is_test and s.customer_id = %(customer)s
      and {same_id_sql("customer", "s.email_normalized")} and s.accepted_at >= b.cut_over_at
  ) or exists (
    select from sale s where s.organization_id = %(org)s and not s.is_test and s.email_normalized = %(email)s
      and s.accepted_at >= b.cut_over_at)"""
#: A select of the latest cut-over of the brought customer who is the buyer, and whether signed sales counted payments
#: of theirs since; no row for another buyer. By subscription, else by customer id, else by email.
CUT_OVER = f"""select b.cut_over_at, {_SIGNED_SINCE} as has_signed_sales
  from ({
    " union all ".join(
        f"(select {place} as place, b.cut_over_at {_BROUGHT} and {condition} order by b.cut_over_at desc limit 1)"
        for place, condition in enumerate(_BY.values(), 1)
    )
}) b order by b.place limit 1"""
