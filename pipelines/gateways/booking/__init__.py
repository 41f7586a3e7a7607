"""What an event of a gateway means, booked in one transaction.

book       each fact of an event, at a `desk`
sell       payments become conversions, starts become leads
whom       whom a payment or a start credits
looked_up  payments that credited nobody, credited by what platforms know
reverse    refunds and disputes
bind       other ids of a payment; who referred a customer
origins    what was told of a customer before
"""
