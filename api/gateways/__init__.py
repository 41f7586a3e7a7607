"""Native connections to payment gateways.

connections   the catalogue; connect, check, change, disconnect
events        the inbox of a connection: list, replay, count
inbound       where gateways send their events
"""

from api.gateways import connections, events, inbound

BLUEPRINTS = (connections.blueprint, events.blueprint, inbound.blueprint)
