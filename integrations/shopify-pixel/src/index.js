// What Shopify starts in its sandbox. All that the pixel does is in pixel.js, which needs nothing of Shopify's.
import { register } from "@shopify/web-pixels-extension";

import { start } from "./pixel.js";

register(start);
