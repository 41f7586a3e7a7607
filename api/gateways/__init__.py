"""Native connections to payment gateways.

connections   the list of gateways; connect, check, change, disconnect
events        the inbox of a connection: list, replay, count
inbound       the addresses that gateways send their events to
"""

from api.gateways import connections, events, inbound

BLUEPRINTS = (connections.blueprint, events.blueprint, inbound.blueprint)
