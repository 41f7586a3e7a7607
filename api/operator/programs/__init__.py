"""Programs of every organization, for operators.

suspensions  suspend programs that must not earn, and resume them
network      the review for the creator network: approve, reject, revoke
"""

from api.operator.programs import network, suspensions

BLUEPRINTS = (suspensions.blueprint, network.blueprint)
