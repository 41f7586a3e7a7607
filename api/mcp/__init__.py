"""The Model Context Protocol: agents that work for a brand use the operations of this api as tools.

endpoint           POST /mcp; refuses foreign hosts and origins
well_known         metadata of the server that issues tokens for it
messages           JSON-RPC requests and responses
protocol_versions  the revisions of the protocol and the fields that each needs
requests           a request as the methods see it
methods            the methods of the protocol
resources          resources
prompts            prompts
tool_choice        the tools that a client may use
tool_calls         a tool call, with a confirmation where it is dangerous
operation_calls    the call of the operation behind a tool: arguments, answer, result
tools              the tools and their operations
"""

from api.mcp import endpoint, well_known

BLUEPRINTS = (endpoint.blueprint, well_known.blueprint)
