"""The dashboard's co-pilot: questions of a person, look-ups of the model, and actions that the person confirms.

conversations  conversations and questions
confirmations  confirming or declining a proposed action
toolbox        the tools that the model may use, and whether a model is configured
tool_runs      running the model's read calls, and preparing its write calls for confirmation
serializers    the JSON of a conversation
"""

from api.copilot import confirmations, conversations

BLUEPRINTS = (conversations.blueprint, confirmations.blueprint)
