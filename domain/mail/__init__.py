"""How letters are filled in and paced, and where a mail server is."""
