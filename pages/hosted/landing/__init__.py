"""The landing pages of campaigns, where visitors read about a brand and apply.

campaign   /p/{handle}/{campaign}: the page and its form; on a brand's own host / and /{campaign}
rendering  the page as HTML, for visitors and for the preview of its brand, with a cache
theme      its style, in the brand's colour
crawlers   /robots.txt and the sitemap, for each host its own
"""

from pages.hosted.landing import campaign, crawlers, theme

BLUEPRINTS = (campaign.blueprint, theme.blueprint, crawlers.blueprint)
