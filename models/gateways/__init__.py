"""Native gateway connections: the connections, their inbox of events, and the reported payments and refunds.

Locks in this order: the organization's connections (`stage_gateway_connections_lock`), then an event of the inbox, then
a payment (`stage_gateway_names_lock`, by gateway), then what a conversion needs.
"""
