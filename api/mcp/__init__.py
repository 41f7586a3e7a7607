"""The Model Context Protocol: agents that work for a brand use the operations of this api as tools.

endpoint    POST /mcp
well_known  where clients learn who gives out tokens for it
places      whether a request came to a name of ours
messages    JSON-RPC: what is sent, what is answered
eras        which revision of the protocol, and what it wants besides
requests    a request as the methods see it
methods     what can be asked
reading     resources
prompts     prompts
choice      which tools a client is given
calling     a tool is called, by way of a confirmation where it is dangerous
asking      the operation behind it is asked: arguments, answer, result
tools       the tools, and how each is bound to its operation
"""

from api.mcp import endpoint, well_known

BLUEPRINTS = (endpoint.blueprint, well_known.blueprint)
