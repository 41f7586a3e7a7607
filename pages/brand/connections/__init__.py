"""Connections at the dashboard: payment gateways, and newsletter and CRM platforms.

listing     /dashboard/connections: what is connected, and what can be; what one does about a platform
joining     connecting one, with what is left to do there
gateway     one gateway: its troubles, what came in, and what one does about it
"""

from pages.brand.connections import gateway, joining, listing

BLUEPRINTS = (listing.blueprint, joining.blueprint, gateway.blueprint)
