// The client: the everyday calls of a brand's server, and the groups of operations.
import { Groups } from "./generated/operations.js";
import { Transport } from "./transport.js";

export class Finderfee extends Groups {
  #transport;

  constructor(options) {
    const transport = new Transport(options);
    super((request) => transport.call(request));
    this.#transport = transport;
  }

  async sale(body, options = {}) {
    checkAmount(body, "amountCents");
    return this.sales.recordSale(body, options);
  }

  async refund(body, options = {}) {
    checkAmount(body, "refundAmountCents");
    return this.sales.refundSale(body, options);
  }

  async lead(body, options = {}) {
    return this.leads.recordLead(body, options);
  }

  async request(method, path, { query = {}, body, ...options } = {}) {
    return this.#transport.call({ method, path, query: Object.keys(query), body, options: { ...query, ...options } });
  }
}

function checkAmount(body, name) {
  const amount = body[name];
  if (amount !== undefined && amount !== null && !Number.isSafeInteger(amount)) {
    throw new TypeError(`${name} must be an integer in minor units of the currency, not ${String(amount)}`);
  }
}
