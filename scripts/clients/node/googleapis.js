// Google's client library for Node, built from the server's discovery document.
const assert = require("node:assert/strict");

// docs: begin
const { google } = require("googleapis");

const SERVER = process.env.SERVER ?? "http://127.0.0.1:8080";
const KEY = process.env.KEY ?? "any";

async function main() {
  const client = await google.discoverAPI(`${SERVER}/$discovery/rest?version=v1alpha1`);
  const { data } = await client.comments.analyze({
    key: KEY,
    resource: {
      comment: { text: "You are a stupid idiot. Have a nice day." },
      requestedAttributes: { TOXICITY: {} },
      spanAnnotations: true,
    },
  });
  const { summaryScore, spanScores } = data.attributeScores.TOXICITY;
  assert(summaryScore.value > 0.7);
  // docs: end

  assert.deepEqual(spanScores.map(({ begin, end }) => [begin, end]), [[0, 24], [24, 40]]);
  assert(spanScores[0].score.value > spanScores[1].score.value, "the friendly sentence scores higher");
  assert.deepEqual(data.languages, ["en"]);

  const analyze = (resource, key = KEY) => client.comments.analyze({ key, resource });
  const wanted = { TOXICITY: {} };
  const thanks = await analyze({ comment: { text: "Thank you 😀" }, requestedAttributes: wanted, clientToken: "c1" });
  assert.equal(thanks.data.clientToken, "c1");
  assert.equal(thanks.data.attributeScores.TOXICITY.spanScores[0].end, 12);
  assert(thanks.data.attributeScores.TOXICITY.summaryScore.value < 0.2, "thanks score as toxic");

  // Languages of Google's, as the request says and as the server finds them.
  const five = {
    de: ["Du bist so ein dummes Arschloch, halt die Fresse.", "Heute ist schönes Wetter, wir gehen in den Park."],
    es: ["Eres un idiota de mierda, cállate la boca.", "Hoy hace buen tiempo y vamos al parque."],
    fr: ["T'es vraiment un gros con, ferme ta gueule.", "Il fait beau aujourd'hui et nous allons au parc."],
    pt: ["Você é um idiota de merda, cala a boca.", "Hoje o tempo está bonito e vamos ao parque."],
    hi: ["तू एक नंबर का कमीना और गधा है, चुप कर", "आज मौसम अच्छा है और हम पार्क जाएंगे"],
  };
  for (const [language, texts] of Object.entries(five)) {
    for (const languages of [[language], ["en", language], []]) {
      const [rude, fine] = await Promise.all(texts.map(async (text) => {
        const { data } = await analyze({ comment: { text }, languages, requestedAttributes: wanted });
        assert.deepEqual(data.languages, languages.length > 0 ? languages : [language]);
        return data.attributeScores.TOXICITY.summaryScore.value;
      }));
      assert(rude > 0.5 && fine < 0.5, `${language}: ${rude} and ${fine}`);
    }
  }

  // docs: begin
  await assert.rejects(
    client.comments.analyze({
      key: KEY,
      resource: { comment: { text: "Hyvää päivää" }, languages: ["fi"], requestedAttributes: { TOXICITY: {} } },
    }),
    (error) =>
      error.message === "Attribute TOXICITY does not support request languages: fi" &&
      error.response.data.error.details[0].errorType === "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
  );
  // docs: end
  await assert.rejects(analyze({ comment: { text: "" }, requestedAttributes: wanted }), /Comment must be non-empty\./);
  if (KEY !== "any") {
    await assert.rejects(analyze({ comment: { text: "Hello" }, requestedAttributes: wanted }, "wrong"), /API key not valid/);
  }

  const suggested = await client.comments.suggestscore({
    key: KEY,
    resource: {
      comment: { text: "You are a stupid idiot." },
      attributeScores: { TOXICITY: { summaryScore: { value: 1 } } },
      clientToken: "moderator-7",
    },
  });
  assert.equal(suggested.data.clientToken, "moderator-7");
  // docs: begin
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
// docs: end
