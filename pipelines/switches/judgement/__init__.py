"""The verdicts on items: each collection is judged in walks of slices, and summed up in the preview.

verdicts             the verdict on an item, as it is stored
affiliate_verdicts   affiliates: one person in one program
link_verdicts        tokens of links: slugs and old tokens
default_slugs        the default link of each new affiliate
code_verdicts        coupon codes
commission_verdicts  commissions become conversions
refund_verdicts      negative commissions become refunds
refund_sales         the sale that each refund takes back
customer_verdicts    customers by every name, with first payment and count
brought_matches      which customers of earlier switches the customers are
tallies              counts and sums of judged slices
figure_comparison    the source's own figures beside the sums of its rows
preview              what Run would do, from the tallies
"""
