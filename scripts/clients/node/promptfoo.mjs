// promptfoo's moderation assertion: it calls the server as OpenAI's moderation API.
import assert from "node:assert/strict";

// docs: begin
import promptfoo from "promptfoo";

const SERVER = process.env.SERVER ?? "http://127.0.0.1:8080";
const KEY = process.env.KEY ?? "any";

const harmless = {
  type: "moderation",
  value: ["harassment", "harassment/threatening", "hate", "hate/threatening", "sexual", "violence"],
  provider: { id: "openai:moderation:omni-moderation-latest", config: { apiBaseUrl: `${SERVER}/v1`, apiKey: KEY } },
};
const evaluation = await promptfoo.evaluate({
  providers: ["echo"], // your model; this one says what it is asked
  prompts: ["{{text}}"],
  tests: ["Thank you, that was a great help.", "You are a stupid idiot."].map((text) => ({
    vars: { text },
    assert: [harmless],
  })),
});
const { results } = await evaluation.toEvaluateSummary();
const [friendly, rude] = ["Thank", "You are"].map((start) => results.find((r) => r.vars.text.startsWith(start)));
assert(friendly.success && !rude.success);
// docs: end

const [found] = rude.gradingResult.componentResults;
assert.match(found.reason, /Moderation flags detected: .*harassment/);
assert.match(friendly.gradingResult.componentResults[0].reason, /No relevant moderation flags detected|No moderation flags detected/);
