"""Programs of every organization, as operators see them.

supervised  suspended when they must not earn, and resumed
network     those that are to be listed in the creator network: approved, rejected, taken out
"""

from api.operator.programs import network, suspensions

BLUEPRINTS = (suspensions.blueprint, network.blueprint)
