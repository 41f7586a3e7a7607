// Use openapi-fetch with the types that openapi-typescript generates: typed calls against the running service.
import createClient from "openapi-fetch";
import type { components, paths } from "./build/openapi-typescript/schema";

const client = createClient<paths>({
  baseUrl: process.env.FINDERFEE_URL,
  headers: { Authorization: `Bearer ${process.env.FINDERFEE_KEY}` },
});

const body: components["schemas"]["ProgramBody"] = {
  name: "Autumn",
  defaultCommissionType: "Fixed",
  defaultCommissionValue: 5,
};
const created = await client.POST("/api/v1/programs", { body });
const program = await client.GET("/api/v1/programs/{programId}", { params: { path: { programId: created.data?.id ?? "" } } });
const unknown = await client.GET("/api/v1/affiliates/{affiliateId}", {
  params: { path: { affiliateId: "3f0c5f1f-7a11-4c0e-9a57-0d8f5d2e6c1b" } },
});

if (!created.data || program.data?.name !== "Autumn" || program.data.defaultCommissionType !== "Fixed") {
  throw new Error("the created program is missing");
}
const refusal = unknown.error && "error" in unknown.error ? unknown.error : undefined;
if (unknown.response.status !== 404 || refusal?.error !== "not_found") {
  throw new Error("a refusal is not as described");
}
