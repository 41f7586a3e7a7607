"""Books the facts of a gateway's event in one transaction.

events           books each fact of an event in a `context`
sales            payments become conversions, starts become leads
attribution      decides which affiliate a payment or a start credits
platform_credit  credits payments without an affiliate by the answers of platforms
earlier          payments from before the connection or a switch
order_parts      further payments of one order
totals           changes of an order's total after it was booked
reversals        refunds and disputes
payment_refunds  refunded and returned money of a payment, and its conversion
origins          stored referrals and checkouts of a customer
"""
