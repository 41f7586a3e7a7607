"""What the objects of a source mean, where its module would be too long.

rewardful      Rewardful's objects
firstpromoter  FirstPromoter's objects
tolt           Tolt's objects
partnerstack   PartnerStack's objects
tapfiliate     Tapfiliate's objects
"""
