"""The co-pilot of the dashboard, as operations: what a person asks, what the model looks at, what the person confirms.

conversations  conversations and questions
acts           what was proposed is confirmed or declined
toolbox        which tools the model is told of, and whether there is a model at all
calls          what the model wants is looked up, or made ready to be confirmed
shown          a conversation as it is shown
"""

from api.copilot import confirmations, conversations

BLUEPRINTS = (conversations.blueprint, confirmations.blueprint)
