"""Newsletter and CRM platforms that say who brought a buyer.

connections   list, check
catalogue     the fields that are read in each platform
"""

COMMANDS = {"platform": "commands.platforms.connections:group"}
