"""Programs (campaigns) of all organizations.

programs  listed, suspended, resumed, their domains
network   what waits for its review in the creator network, and what is decided about it
"""

#: Where each command's group is.
COMMANDS = {"program": "commands.programs.programs:group"}
