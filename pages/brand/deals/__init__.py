"""Creator deals at the dashboard: a fee in milestones, held in escrow.

listing   /dashboard/deals
new_deal  a new one
deal      one deal: offered, charged, and the state of each milestone
"""

from pages.brand.deals import deal, listing, new_deal

BLUEPRINTS = (listing.blueprint, new_deal.blueprint, deal.blueprint)
