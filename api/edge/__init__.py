"""What every route needs: callers and guards, bodies and answers, pages, limits, the trail, the description."""
