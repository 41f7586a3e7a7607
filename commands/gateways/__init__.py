"""Native connections to payment gateways.

connections   list, check, reconcile, and what came in
catalogue     what each gateway can and cannot do
"""

COMMANDS = {"connection": "commands.gateways.connections:group"}
