"""Manages campaigns (programs).

lifecycle     creates, finds, locks and archives a program
changing      changes a program
networking    lists a program in the creator network, reviews the listing, searches the network
supervision   an operator's actions on a program
grouping      groups of affiliates who share a rate
tiering       rates by lifetime revenue
standing      the revenue of an affiliate compared with the tiers
rewards       the fee of a click or a lead, and the rest of the budget
landing       the pictures of landing pages
giving        texts and images for affiliates
numbers       statistics
daily         sales, leads, clicks and money per day
measuring     metrics and leaderboards by day
home_rate     the home currency with its rates
"""
