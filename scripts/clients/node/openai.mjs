// OpenAI's client library for Node.
import assert from "node:assert/strict";

// docs: begin
import OpenAI from "openai";

const SERVER = process.env.SERVER ?? "http://127.0.0.1:8080";
const KEY = process.env.KEY ?? "any";

const client = new OpenAI({ baseURL: `${SERVER}/v1`, apiKey: KEY });
const moderation = await client.moderations.create({
  model: "omni-moderation-latest",
  input: ["You are a stupid idiot.", "Thank you, that was a great help."],
});
const [rude, friendly] = moderation.results;
assert(rude.flagged && !friendly.flagged);
assert(rude.categories.harassment && rude.category_scores.harassment > 0.7);
// docs: end

assert(friendly.category_scores.harassment < 0.2, "thanks score as harassment");
// A category that is not measured is zero and lists no input types. A field of the server's
// own, which the client passes on, names it.
assert.equal(rude.category_scores["self-harm"], 0);
assert.deepEqual(rude.category_applied_input_types["self-harm"], []);
assert.deepEqual(rude.toxscreen.not_measured, [
  "illicit", "illicit/violent", "self-harm", "self-harm/instructions", "self-harm/intent", "sexual/minors", "violence/graphic",
]);

// This server refuses images.
await assert.rejects(
  client.moderations.create({ input: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }),
  (error) => error instanceof OpenAI.BadRequestError && /input\[0\]: images are not measured.*ignore_images/.test(error.message),
);
if (KEY !== "any") {
  await assert.rejects(
    new OpenAI({ baseURL: `${SERVER}/v1`, apiKey: "wrong" }).moderations.create({ input: "Hello" }),
    (error) => error instanceof OpenAI.AuthenticationError && error.code === "invalid_api_key",
  );
}
