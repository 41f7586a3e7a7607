"""Connections at the dashboard: payment gateways, and newsletter and CRM platforms.

listing          /dashboard/connections: connections and the catalogue; actions on a platform
new_connection   connecting a gateway or platform, with the steps left to do there
gateway          one gateway: its problems, its events, and actions on it
event_reasons    the results of its events in words
"""

from pages.brand.connections import gateway, listing, new_connection

BLUEPRINTS = (listing.blueprint, new_connection.blueprint, gateway.blueprint)
