"""Creator deals.

deals      drafts, offers and withdrawals by the brand
reviews    the brand's charge, and its decisions about milestones
creator    answers and submissions of the affiliate who signed in
"""

from api.deals import creator, deals, reviews

BLUEPRINTS = (deals.blueprint, reviews.blueprint, creator.blueprint)
