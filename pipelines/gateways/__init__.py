"""Native connections: events of payment gateways come in, are translated, and booked as sales, leads and refunds.

connect    credentials proved and changed; connections ended
check      whether credentials are still taken; Broken connections
letters    what Owners are told of those
web_pixel  what counts visits in a store is there while it is connected, and gone afterwards
checkouts  what a store's web pixel tells of checkouts
accounts   what a connection keeps sealed
receive    an event is kept once, with its job
process    an event is translated by its adapter (`adapters.gateways`), then booked
booking    what an event means, booked in one transaction
reconcile  what was missed is listed at the gateway
"""
