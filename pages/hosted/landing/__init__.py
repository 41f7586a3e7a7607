"""The landing pages of campaigns: what strangers judge a brand by, and where they apply.

campaign   /p/{handle}/{campaign}: the page and its form; on a brand's own host / and /{campaign}
shown      the page as it looks, for strangers and for the preview of its brand
written    pages as they were written, known by all that they say
theme      its style, in the brand's colour
crawlers   /robots.txt and the sitemap, for each host its own
"""

from pages.hosted.landing import campaign, crawlers, theme

BLUEPRINTS = (campaign.blueprint, theme.blueprint, crawlers.blueprint)
