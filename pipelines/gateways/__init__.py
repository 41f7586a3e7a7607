"""Native connections: receives events of payment gateways, translates them, and books sales, leads and refunds.

connect    verifies and changes credentials; ends connections
check      checks whether a gateway still accepts credentials; Broken connections and their email
web_pixel  creates and deletes the pixel that reports visits and checkouts of a connected store
checkouts  stores which link a checkout came by, as a store's web pixel reports it
accounts   opens the sealed credentials of a connection
receive    stores an event once, with its job
process    translates an event with its adapter (`adapters.gateways`), then books it
booking    books the facts of an event in one transaction
reconcile  lists missed payments and refunds at the gateway
"""
