// Use the client that @hey-api/openapi-ts generates: typed calls against the running service.
import { createProgram, listConversions, listPrograms } from "./build/hey-api";
import { client } from "./build/hey-api/client.gen";

client.setConfig({ baseUrl: process.env.FINDERFEE_URL, auth: () => process.env.FINDERFEE_KEY });

const created = await createProgram({
  body: { name: "Spring", defaultCommissionType: "Percentage", defaultCommissionValue: 20 },
  throwOnError: true,
});
const programs = await listPrograms({ query: { take: 10 }, throwOnError: true });
const conversions = await listConversions({ query: { status: "Pending" }, throwOnError: true });
const refusal = await createProgram({ body: { name: "", defaultCommissionType: "Percentage", defaultCommissionValue: 20 } });

const type: "Percentage" | "Fixed" = created.data.defaultCommissionType;
if (type !== "Percentage" || !programs.data.items.some((program) => program.id === created.data.id)) {
  throw new Error("the created program is not listed");
}
if (conversions.data.items.length !== 0 || conversions.data.hasMore || refusal.response?.status !== 400) {
  throw new Error("a response is not as expected");
}
