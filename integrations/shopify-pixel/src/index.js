// The entry point that Shopify starts in its sandbox. The pixel itself is pixel.js, which needs no module of Shopify.
import { register } from "@shopify/web-pixels-extension";

import { start } from "./pixel.js";

register(start);
