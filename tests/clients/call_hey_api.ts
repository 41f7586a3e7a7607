// Uses the client that @hey-api/openapi-ts makes: typed calls against the running service.
import { createProgram, listConversions, listPrograms } from "./build/hey-api";
import { client } from "./build/hey-api/client.gen";

client.setConfig({ baseUrl: process.env.FINDERFEE_URL, auth: () => process.env.FINDERFEE_KEY });

const made = await createProgram({
  body: { name: "Spring", defaultCommissionType: "Percentage", defaultCommissionValue: 20 },
  throwOnError: true,
});
const programs = await listPrograms({ query: { take: 10 }, throwOnError: true });
const conversions = await listConversions({ query: { status: "Pending" }, throwOnError: true });
const refused = await createProgram({ body: { name: "", defaultCommissionType: "Percentage", defaultCommissionValue: 20 } });

const type: "Percentage" | "Fixed" = made.data.defaultCommissionType;
if (type !== "Percentage" || !programs.data.items.some((program) => program.id === made.data.id)) {
  throw new Error("the program that was made is not listed");
}
if (conversions.data.items.length !== 0 || conversions.data.hasMore || refused.response?.status !== 400) {
  throw new Error("an answer is not as expected");
}
