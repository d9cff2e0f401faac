// The server's APIs: the request of each for a text, and how to send it in a language.

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
    body: (text, names) => ({ comment: { text }, requestedAttributes: Object.fromEntries(names.map((name) => [name.toUpperCase(), {}])) }),
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

// languages write the code that sends a body, which is JSON, to an API and prints the
// answer. A key is never part of it: the code takes it from the variable TOXSCREEN_KEY.
export const languages = {
  curl: { label: "curl", code: curl, hint: "" },
  python: { label: "Python", code: python, hint: "It needs only Python's standard library." },
  javascript: { label: "JavaScript", code: javascript, hint: "For Node, in a file like request.mjs, and for browsers." },
};

const addressOf = (format) => new URL(format.path, document.baseURI).href;

// headersOf returns the headers of a request as code. quoted quotes a string, and secret
// adds the variable TOXSCREEN_KEY to one.
function headersOf(format, hasKey, quoted, secret) {
  const headers = [`${quoted("Content-Type")}: ${quoted("application/json")}`];
  if (hasKey && format.header) {
    const [name, before] = format.header.split(": ");
    headers.push(`${quoted(name)}: ${secret(before)}`);
  }
  return `{${headers.join(", ")}}`;
}

// shellWord quotes a string for a shell.
const shellWord = (s) => `'${s.replaceAll("'", "'\\''")}'`;

function curl(format, body, hasKey) {
  let address = shellWord(addressOf(format));
  if (hasKey && format.query) address += `"?${format.query}=$TOXSCREEN_KEY"`;
  const lines = [`curl ${address}`, "-H 'Content-Type: application/json'"];
  if (hasKey && format.header) lines.push(`-H "${format.header}$TOXSCREEN_KEY"`);
  lines.push(`-d ${shellWord(body)}`);
  return lines.join(" \\\n  ");
}

// literal writes a value in Python. Its strings and numbers are written like those of JSON.
function literal(value, indent = "") {
  const deeper = `${indent}    `;
  const lines = (open, items, close) => (items.length ? `${open}\n${items.map((item) => `${deeper}${item},\n`).join("")}${indent}${close}` : open + close);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return lines("[", value.map((item) => literal(item, deeper)), "]");
  if (typeof value === "object") return lines("{", Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literal(item, deeper)}`), "}");
  return JSON.stringify(value);
}

function python(format, body, hasKey) {
  const secret = (before) => `${before ? `${JSON.stringify(before)} + ` : ""}os.environ["TOXSCREEN_KEY"]`;
  const address = hasKey && format.query ? secret(`${addressOf(format)}?${format.query}=`) : JSON.stringify(addressOf(format));
  return `import json
${hasKey ? "import os\n" : ""}import urllib.request

body = ${literal(JSON.parse(body))}
request = urllib.request.Request(
    ${address},
    data=json.dumps(body).encode(),
    headers=${headersOf(format, hasKey, JSON.stringify, secret)},
)
with urllib.request.urlopen(request) as response:
    print(json.dumps(json.load(response), indent=2))`;
}

function javascript(format, body, hasKey) {
  const secret = (before) => `${before ? `${JSON.stringify(before)} + ` : ""}process.env.TOXSCREEN_KEY`;
  const address = hasKey && format.query ? secret(`${addressOf(format)}?${format.query}=`) : JSON.stringify(addressOf(format));
  return `const body = ${JSON.stringify(JSON.parse(body), null, 2)};
const response = await fetch(${address}, {
  method: "POST",
  headers: ${headersOf(format, hasKey, JSON.stringify, secret)},
  body: JSON.stringify(body),
});
console.log(JSON.stringify(await response.json(), null, 2));`;
}
