// The npm package perspective-api-client: Google's address is in its code.
const assert = require("node:assert/strict");

// docs: begin
const Perspective = require("perspective-api-client");

const perspective = new Perspective({ apiKey: process.env.KEY ?? "any" });

async function main() {
  const rude = await perspective.analyze("You are a stupid <b>idiot</b>.", { attributes: ["toxicity", "insult"] });
  assert(rude.attributeScores.TOXICITY.summaryScore.value > 0.7);
  assert(rude.attributeScores.INSULT.summaryScore.value > 0.7);
  // docs: end

  // It removes the tags itself and requests that nothing is stored.
  assert.equal(rude.attributeScores.TOXICITY.spanScores[0].end, "You are a stupid idiot.".length);
  const friendly = await perspective.analyze("Thank you, that was a great help.");
  assert(friendly.attributeScores.TOXICITY.summaryScore.value < 0.2, "thanks score as toxic");

  await assert.rejects(
    perspective.analyze({ comment: { text: "Hyvää päivää" }, languages: ["fi"] }),
    (error) =>
      error instanceof Perspective.ResponseError &&
      error.message === "Attribute TOXICITY does not support request languages: fi" &&
      error.response.data.error.details[0].errorType === "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
  );
  await assert.rejects(
    new Perspective({ apiKey: "wrong" }).analyze("Hello"),
    (error) => error instanceof Perspective.ResponseError && /API key not valid/.test(error.message),
  );
  // docs: begin
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
// docs: end
