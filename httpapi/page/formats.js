// The server's APIs: the request of each for a text, and how to send it with curl.

// formats are the APIs by their names, each with its path, the header or the query
// parameter for a key, the body of a request, a hint on the answer, and the document
// that describes it.
export const formats = {
  native: {
    label: "Native", path: "v1/score", header: "Authorization: Bearer ", document: "server.md#scoring",
    hint: "The result that this page shows.",
  },
  perspective: {
    label: "Perspective", path: "v1alpha1/comments:analyze", query: "key", document: "api/perspective.md",
    body: (text, names) => ({ comment: { text }, languages: ["en"], requestedAttributes: Object.fromEntries(names.map((name) => [name.toUpperCase(), {}])) }),
    hint: "High is toxic. Span offsets count UTF-16 units.",
  },
  openai: {
    label: "OpenAI", path: "v1/moderations", header: "Authorization: Bearer ", document: "api/openai.md",
    body: (text) => ({ model: "omni-moderation-latest", input: text }),
    hint: "High is toxic. Categories that were not assessed are 0 and have no applied input type.",
  },
  litellm: {
    label: "LiteLLM", path: "beta/litellm_basic_guardrail_api", header: "x-api-key: ", document: "api/litellm.md",
    body: (text) => ({ texts: [text], input_type: "request", request_data: {} }),
    hint: "The action says whether the texts may pass.",
  },
  patronus: {
    label: "Patronus", path: "v1/evaluate", header: "X-API-KEY: ", document: "api/patronus.md",
    body: (text) => ({ evaluators: [{ evaluator: "toxicity" }, { evaluator: "pii" }], evaluated_model_output: text }),
    hint: "High is toxic and fails; of pii, 0 fails. Positions count code points.",
  },
  presidio: {
    label: "Presidio", path: "analyze", header: "x-api-key: ", document: "api/presidio.md",
    body: (text) => ({ text, language: "en" }),
    hint: "Personal data, not toxicity. Offsets count code points.",
  },
  writer: {
    label: "Writer", path: "v1/toxic-check", header: "Authorization: Bearer ", document: "api/writer.md",
    body: (text) => ({ completion: text }),
    hint: "Reversed: low is toxic.",
  },
};

// shellWord quotes a string for a shell.
const shellWord = (s) => `'${s.replaceAll("'", "'\\''")}'`;

// curl returns the shell command that sends a body to an API. A key is never part of
// it: the command takes it from the variable TOXSCREEN_KEY.
export function curl(format, body, hasKey) {
  let address = shellWord(new URL(format.path, document.baseURI).href);
  if (hasKey && format.query) address += `"?${format.query}=$TOXSCREEN_KEY"`;
  const lines = [`curl ${address}`, "-H 'Content-Type: application/json'"];
  if (hasKey && format.header) lines.push(`-H "${format.header}$TOXSCREEN_KEY"`);
  lines.push(`-d ${shellWord(body)}`);
  return lines.join(" \\\n  ");
}
