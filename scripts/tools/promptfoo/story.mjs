// promptfoo with the assertion in toxscreen.mjs, and with its own assertion
// `moderation`, which asks the server as OpenAI's moderation API.
import promptfoo from "promptfoo";

const SERVER = process.env.SERVER ?? "http://127.0.0.1:8080";
const KEY = process.env.KEY ?? "any";

const assertions = {
  javascript: { type: "javascript", value: `file://${import.meta.dirname}/toxscreen.mjs`, config: { threshold: 0.5 } },
  moderation: {
    type: "moderation",
    value: ["harassment", "harassment/threatening", "hate", "hate/threatening", "sexual", "violence"],
    provider: { id: "openai:moderation:omni-moderation-latest", config: { apiBaseUrl: `${SERVER}/v1`, apiKey: KEY } },
  },
};
const texts = { rude: "You are a stupid idiot.", friendly: "Thank you, that was a great help." };
const metrics = { rude: {}, friendly: {} };
for (const [name, assertion] of Object.entries(assertions)) {
  const suite = {
    providers: ["echo"], // your model; this one says what it is asked
    prompts: ["{{text}}"],
    tests: Object.entries(texts).map(([kind, text]) => ({ description: kind, vars: { text }, assert: [assertion] })),
  };
  const evaluation = await promptfoo.evaluate(suite, { maxConcurrency: 1 });
  for (const result of (await evaluation.toEvaluateSummary()).results) {
    console.error(`${name}: ${result.testCase.description}: ${result.gradingResult?.reason ?? result.error}`);
    const of = metrics[result.testCase.description];
    of[`${name} passes`] = Number(result.success);
    of[`${name} errs`] = Number(result.failureReason === 2); // an error is not a failed test
    of[`${name} score`] = result.score;
  }
}
console.log(JSON.stringify(metrics));
