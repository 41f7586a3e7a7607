"""Native gateway connections: the connections, their inbox of events, and the reported payments and refunds.

Locks in this order: the organization's connections (`connections.stage_turn`), then an event of the inbox, then a
payment (`payments.stage_turn`, by gateway), then what a conversion needs.
"""
