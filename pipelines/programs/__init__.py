"""What happens to campaigns.

lifecycle     created, found, locked, archived
changing      what is sent is merged with what it is
supervision   what the operator does to one
grouping      groups of affiliates who share a rate
tiering       rates by lifetime revenue
standing      how far an affiliate has come among them
rewards       what a click or a lead pays, and what the budget still holds
numbers       statistics
daily         what they brought in, day by day
home_rate     what limits in the home currency are measured with
"""
