// Uses openapi-fetch with the types that openapi-typescript makes: typed calls against the running service.
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
const made = await client.POST("/api/v1/programs", { body });
const found = await client.GET("/api/v1/programs/{programId}", { params: { path: { programId: made.data?.id ?? "" } } });
const nobody = await client.GET("/api/v1/affiliates/{affiliateId}", {
  params: { path: { affiliateId: "3f0c5f1f-7a11-4c0e-9a57-0d8f5d2e6c1b" } },
});

if (!made.data || found.data?.name !== "Autumn" || found.data.defaultCommissionType !== "Fixed") {
  throw new Error("the program that was made is not there");
}
const refusal = nobody.error && "error" in nobody.error ? nobody.error : undefined;
if (nobody.response.status !== 404 || refusal?.error !== "not_found") {
  throw new Error("a refusal is not as described");
}
