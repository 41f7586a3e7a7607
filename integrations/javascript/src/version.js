/** The version of this client: that of the service whose interface it was generated from. */
export const VERSION = "0.1.0";
