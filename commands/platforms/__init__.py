"""Newsletter and CRM platforms that say who brought a buyer.

connections   list, check
catalogue     where each platform keeps what is read
"""

COMMANDS = {"platform": "commands.platforms.connections:group"}
