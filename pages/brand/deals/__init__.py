"""Creator deals at the dashboard: a fee in milestones, held in escrow.

listing   /dashboard/deals
making    a new one
deal      one deal: offered, charged, and what becomes of each milestone
"""

from pages.brand.deals import deal, listing, making

BLUEPRINTS = (listing.blueprint, making.blueprint, deal.blueprint)
