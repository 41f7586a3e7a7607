"""Programs (campaigns) of all organizations.

programs  list, suspend, resume, verify a domain
network   the review of programs that brands list in the creator network
"""

#: Command name to the group.
COMMANDS = {"program": "commands.programs.programs:group"}
