"""Figures that a source states of itself, and the sums of its rows that each is compared with.

Sources report them as `adapters.switches.base.StatedFigure` with these names. `subject` is the source id of an
affiliate or customer, or the name of a group; empty for the whole account. Counts have no currency;
amounts are minor units of theirs.
Source: the switch-over rules, "Preview" (what is compared).
"""

from enum import StrEnum

from domain.switches.sources import Collection


class FigureName(StrEnum):
    """What a stated figure counts or sums."""

    #: The source's total of a list's rows: one name for each collection.
    TotalAffiliates = "total_affiliates"
    TotalLinks = "total_links"
    TotalCodes = "total_codes"
    TotalCustomers = "total_customers"
    TotalCommissions = "total_commissions"
    TotalPayouts = "total_payouts"
    #: Per affiliate: customers and leads together (rewardful leads + conversions, firstpromoter referrals_count,
    #: partnerstack CUSTOMER_COUNT).
    Referrals = "referrals"
    #: Per affiliate: customers who paid (firstpromoter customers_count).
    PayingCustomers = "paying_customers"
    #: Per affiliate or customer: payments (firstpromoter sales_count, dub sales).
    Sales = "sales"
    CustomerSales = "customer_sales"
    #: Per affiliate or customer: the sum of sales (firstpromoter revenue_amount, dub totalSaleAmount, saleAmount).
    SaleAmount = "sale_amount"
    CustomerSaleAmount = "customer_sale_amount"
    #: Per affiliate: commissions of every kind but lost (dub totalCommissions, lemonsqueezy total_earnings).
    CommissionAmount = "commission_amount"
    #: Per affiliate: paid commissions where the source tells a sum (lemonsqueezy total - unpaid).
    PaidCommission = "paid_commission"
    #: Per affiliate: commissions of the kinds paid and owed, less the payouts of the list (tapfiliate balances).
    Balance = "balance"
    #: Per affiliate or in all, by us from the payouts that were read: completed payouts beside paid commissions.
    PaidPayouts = "paid_payouts"
    #: Per group: its affiliates (tapfiliate affiliate_count).
    GroupAffiliates = "group_affiliates"


#: The figure of each collection's total.
TOTALS = {
    Collection.Affiliates: FigureName.TotalAffiliates,
    Collection.Links: FigureName.TotalLinks,
    Collection.Codes: FigureName.TotalCodes,
    Collection.Customers: FigureName.TotalCustomers,
    Collection.Commissions: FigureName.TotalCommissions,
    Collection.Payouts: FigureName.TotalPayouts,
}
