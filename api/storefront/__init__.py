"""The public pages of a brand.

lookup        the campaign of an address
application   the application form
second_steps  its second step, submitted from a page or the portal
landing_page  the landing page of a campaign, and the brand of a host
sitemap       the public campaigns
network_presence  whether the network has programs, for the front page
"""

from api.storefront import application, lookup

BLUEPRINTS = (
    lookup.blueprint,
    application.blueprint,
)
