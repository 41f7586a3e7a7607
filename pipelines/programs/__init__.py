"""What happens to campaigns.

lifecycle     created, found, locked, archived
changing      what is sent is merged with what it is
networking    listed in the creator network, reviewed by the operator, found there
supervision   what the operator does to one
grouping      groups of affiliates who share a rate
tiering       rates by lifetime revenue
standing      how far an affiliate has come among them
rewards       what a click or a lead pays, and what the budget still holds
landing       the picture of a landing page
giving        texts and images for affiliates
numbers       statistics
daily         what they brought in, day by day
measuring     metrics and leaderboards out of them
home_rate     what the home currency measures limits with, and values days with
"""
