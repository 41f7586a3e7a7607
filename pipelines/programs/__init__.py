"""Manages campaigns (programs).

lifecycle         creates, finds, locks and archives a program
update            changes a program
network_listing   lists a program in the creator network, reviews the listing, searches the network
supervision       an operator's actions on a program
groups            groups of affiliates who share a rate
tiers             rates by lifetime revenue
tier_progress     the revenue of an affiliate compared with the tiers
rewards           the fee of a click or a lead, and the rest of the budget
landing_pictures  the pictures of landing pages
brand_assets      texts and images for affiliates
numbers           statistics
daily_numbers     sales, leads, clicks and money per day
performance       metrics and leaderboards by day
home_rate         the home currency with its rates
"""
