"""The systems to switch from: what each answers, and what its rows mean.

base           the Protocol of a source, and the values that it exchanges with the rest
registry       the sources by name
client         one guarded request to a source
reading        helpers that read values, amounts and rows of any source
objects        what the objects of long sources mean
rewardful      a source
firstpromoter  a source
tolt           a source
partnerstack   a source
tapfiliate     a source
lemonsqueezy   a source
dub            a source
files          exports of any other system: nothing is requested
"""
