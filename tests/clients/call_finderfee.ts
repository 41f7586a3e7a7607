// Use the packed own JavaScript client as a brand's server does, against the running service.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, ConnectionFailed, Finderfee, InvalidSignature, verifyWebhook } from "finderfee-client";

const env = (name: string): string => process.env[`FINDERFEE_${name}`] ?? assert.fail(name);
const slug = env("SLUG");

function client(baseUrl = env("URL"), more: { signingSecret?: string; retries?: number } = {}): Finderfee {
  return new Finderfee({ baseUrl, apiKey: env("KEY"), signingSecret: env("SECRET"), ...more });
}

async function catchRefusal(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(() => assert.fail("nothing was refused"), (error: unknown) => error);
  if (error instanceof ApiError) return error;
  throw error;
}

const ours = client();
const sell = (order: string, via = ours) =>
  via.sale({ externalEventId: order, affiliateSlug: slug, amountCents: 10_000, currency: "USD" });

// A sale: once, repeated, concurrently, and with an invalid amount.
const first = await sell("js-1");
assert.ok(first.ok && first.conversionId);
assert.deepEqual(await sell("js-1"), { ok: true, deduped: true });
const concurrent = await Promise.all(Array.from({ length: 8 }, () => sell("js-2")));
assert.equal(concurrent.filter((answer) => answer.conversionId).length, 1);
await assert.rejects(ours.sale({ externalEventId: "js-3", affiliateSlug: slug, amountCents: 99.5 }), TypeError);

// A partial refund, sent twice concurrently with one key; then the rest; then a refused one.
const part = { externalEventId: "js-1", refundAmountCents: 2_500 };
const options = { idempotencyKey: "js-refund-1" };
const parts = await Promise.all([ours.refund(part, options), ours.refund(part, options)]);
assert.deepEqual(parts[0], parts[1]);
assert.ok(parts[0].cumulativeRefundedAmountCents === 2_500 && !parts[0].isFullRefund);
const rest = await ours.refund({ externalEventId: "js-1" });
assert.ok(rest.refundedAmountCents === 7_500 && rest.isFullRefund);
assert.equal((await catchRefusal(ours.refund({ externalEventId: "js-1" }))).code, "already_fully_refunded");

for (const total of [1_000, 2_000, 3_000]) {
  const equalRefund = await ours.refund({ externalEventId: "js-2", refundAmountCents: 1_000 });
  assert.equal(equalRefund.cumulativeRefundedAmountCents, total, "equal refunds without a key are separate");
}

// A lead, and the same email again.
const lead = { affiliateSlug: slug, email: "mira.js@customer.example", name: "Mira Nováková" };
assert.ok((await ours.lead(lead)).leadId);
assert.deepEqual(await ours.lead(lead), { ok: true, deduped: true });

// Refusals: by a rule with its field, malformed, a wrong secret, an unknown id.
const unknown = await catchRefusal(ours.sale({ externalEventId: "js-4", affiliateSlug: "nobody-here", amountCents: 1 }));
assert.deepEqual([unknown.status, unknown.code], [400, "affiliate_not_found"]);
assert.ok(unknown.requestId && unknown.reason);
const insecure = await catchRefusal(ours.webhooks.createWebhookEndpoint({ url: "ftp://shop.example", events: ["*"] }));
assert.deepEqual([insecure.code, insecure.field], ["https_required", "url"]);
// @ts-expect-error: a name is text
const malformed = await catchRefusal(ours.programs.createProgram({ name: 7 }));
assert.ok(malformed.code === null && malformed.errors.name);
const wrong = await catchRefusal(sell("js-5", client(undefined, { signingSecret: "not the secret" })));
assert.deepEqual([wrong.status, wrong.code, wrong.body], [401, null, null]);
assert.equal((await catchRefusal(ours.programs.getProgram("3f0c5f1f-7a11-4c0e-9a57-0d8f5d2e6c1b"))).code, "not_found");
await assert.rejects(ours.programs.getProgram(""), TypeError);

// The client retries after 429, 503 and a lost response, and nothing happens twice.
assert.ok((await sell("js-6", client(`${env("PROXY")}/busy`))).conversionId);
assert.ok((await sell("js-7", client(`${env("PROXY")}/away`))).conversionId);
assert.ok((await sell("js-8", client(`${env("PROXY")}/lost`))).conversionId, "a repeated sale gets the response of the first");
const halfRefund = await client(`${env("PROXY")}/lost`).refund({ externalEventId: "js-8", refundAmountCents: 4_000 });
assert.equal(halfRefund.cumulativeRefundedAmountCents, 4_000, "refunded twice");
const busy = await catchRefusal(sell("js-9", client(`${env("PROXY")}/busy`, { retries: 0 })));
assert.deepEqual([busy.status, busy.code, busy.retryAfterS], [429, null, 1]);
await assert.rejects(sell("js-9", client("http://127.0.0.1:1", { retries: 1 })), ConnectionFailed);

// A paged list.
const programIds = new Set<string>();
for (const value of [1, 2, 3, 4, 5]) {
  const terms = { defaultCommissionType: "Percentage", defaultCommissionValue: value } as const;
  programIds.add((await ours.programs.createProgram({ name: `JavaScript ${value}`, ...terms })).id);
}
const page = await ours.programs.listPrograms({ take: 2 });
assert.ok(page.items.length === 2 && page.hasMore);
const listed: string[] = [];
for await (const program of ours.programs.iteratePrograms({ take: 2 })) listed.push(program.id);
assert.ok([...programIds].every((id) => listed.includes(id)) && new Set(listed).size === listed.length);
assert.ok((await ours.conversions.exportConversions({ status: "Pending" })).startsWith("id,"));
assert.equal(await ours.programs.archiveProgram([...programIds][0] ?? ""), undefined);

// A delivered webhook.
const deliveries: { headers: IncomingHttpHeaders; raw: Buffer }[] = [];
const certificate = ["cert.pem", "key.pem"].map((name) => readFileSync(`${env("CERTIFICATE")}/${name}`));
const receiver = createServer({ cert: certificate[0], key: certificate[1] }, async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  deliveries.push({ headers: request.headers, raw: Buffer.concat(parts) });
  response.writeHead(204).end();
  receiver.emit("delivery");
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const { port } = receiver.address() as AddressInfo;
const endpoint = await ours.webhooks.createWebhookEndpoint({
  url: `https://localhost:${port}/hook`,
  events: ["conversion.created"],
});
const delivered = once(receiver, "delivery", { signal: AbortSignal.timeout(60_000) });
const sale = await sell("js-10");
await delivered;
const { headers, raw } = deliveries[0] ?? assert.fail("nothing was delivered");
const event = await verifyWebhook(raw, headers, endpoint.secret);
if (event.type !== "conversion.created") throw new Error(event.type);
assert.equal(event.data.conversionId, sale.conversionId);
const signature = String(headers["x-service-signature"]);
const several = new Headers({ "X-Service-Signature": `${signature},v1=${"0".repeat(64)}` });
assert.equal((await verifyWebhook(raw.toString(), several, ["an older one", endpoint.secret])).id, event.id);
const signedAt = Number(headers["x-service-timestamp"]);
await verifyWebhook(raw, headers, endpoint.secret, { now: signedAt + 300 });
const rejected: [Parameters<typeof verifyWebhook>[0], Record<string, string | string[] | undefined>, string, number][] = [
  [raw, headers, endpoint.secret, signedAt + 301],
  [raw, headers, endpoint.secret, signedAt - 301],
  [raw, headers, endpoint.secret, Number.NaN],
  [Buffer.concat([raw, Buffer.from(" ")]), headers, endpoint.secret, signedAt],
  [raw, headers, `${endpoint.secret}x`, signedAt],
  [raw, headers, "", signedAt],
  [raw, {}, endpoint.secret, signedAt],
];
for (const header of ["", "t=1", `v1=${"0".repeat(64)}`, "t=x,v1=y", `${signature},t=${signedAt}`, signature.replace("t=", "t=-")]) {
  rejected.push([raw, { "X-Service-Signature": header }, endpoint.secret, signedAt]);
}
for (const [body, signedHeaders, secret, now] of rejected) {
  await assert.rejects(verifyWebhook(body, signedHeaders, secret, { now }), InvalidSignature, JSON.stringify(signedHeaders));
}
await assert.rejects(verifyWebhook(JSON.parse(raw.toString()), headers, endpoint.secret), TypeError);
receiver.close();
receiver.closeAllConnections();
