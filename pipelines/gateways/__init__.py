"""Native connections: events of payment gateways come in, are translated, and booked as sales, leads and refunds.

connect    credentials proved and changed; connections ended
check      whether credentials are still taken; Broken connections
letters    what Owners are told of those
accounts   what a connection keeps sealed
receive    an event is kept once, with its job
process    an event is translated by its adapter (`adapters.gateways`), then booked
book       each fact of an event, in one transaction, at a `desk`
whom       whom a payment or a start credits
sell       payments become conversions, starts become leads
looked_up  payments that credited nobody, credited by what platforms know
reverse    refunds and disputes
bind       other ids of a payment; who referred a customer
origins    what was told of a customer before
reconcile  what was missed is listed at the gateway
"""
