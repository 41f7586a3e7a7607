"""What a brand's own site shows an affiliate of what they have here.

tokens   the tokens that the brand's servers make
own      what the affiliate sees by one
history  their conversions and payouts
view     what pages/hosted needs to know to show the page
"""

from api.embed import history, tokens, viewer_data

BLUEPRINTS = (tokens.blueprint, viewer_data.blueprint, history.blueprint)
