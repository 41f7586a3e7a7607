"""Newsletter and CRM platforms: the connections, and the lookups of payments' buyers.

Lock order: the advisory locks of a gateway's report, a connection, the payment, then what a conversion needs.
"""
