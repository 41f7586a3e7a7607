"""What an event of a gateway means, booked in one transaction.

book       each fact of an event, at a `desk`
sell       payments become conversions, starts become leads
whom       whom a payment or a start credits
looked_up  payments that credited nobody, credited by what platforms know
parts      further payments of one order
totals     what an order comes to after it was booked
reverse    refunds and disputes
money_back  what goes back and comes back, and the conversion that follows
bind       other ids of a payment; who referred a customer
origins    what was told of a customer before
"""
