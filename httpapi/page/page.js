// The playground: one text, its result, and actions on both. Everything that users
// or the server wrote is inserted as text, never as markup, which the page's policy
// forbids.

const $ = (id) => document.getElementById(id);

// make returns an element with properties and children, which may be strings.
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const words = (name) => name.replaceAll("_", " ");
const number = (p) => p.toFixed(2);
const colour = (attribute) => `var(--${attribute}, var(--accent))`;

// kept is what this browser stores. Where storage is disabled or full, the page
// works without it.
const kept = {
  get(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(`toxscreen.${name}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`toxscreen.${name}`, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};

const state = {
  text: "", // the scored text
  result: null, // the latest one
  draft: false, // whether the judge is asked only if the text stays
  thresholds: kept.get("thresholds", {}), // thresholds that the user moved
};

/* The server. */

let key = "";
try {
  key = sessionStorage.getItem("toxscreen.key") ?? "";
} catch {
  // Then the user must enter it at each visit.
}

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

const seconds = (n) => (n === 1 ? "1 second" : `${n} seconds`);

// ask returns the server's answer, from JSON. While the server cannot be reached
// or is busy, it says so and tries again. It throws when signal is aborted or the
// server rejects the request.
async function ask(path, request, signal) {
  for (let attempt = 0; ; attempt++) {
    const backOff = Math.min(2 ** attempt, 30);
    const headers = { ...request.headers };
    if (key) headers.Authorization = `Bearer ${key}`;
    let response, body;
    try {
      response = await fetch(path, { ...request, headers, signal, cache: "no-store" });
      body = await response.text();
    } catch {
      signal.throwIfAborted();
      report(`The server cannot be reached: is it running? Trying again in ${seconds(backOff)}.`);
      await pause(backOff * 1000, signal);
      continue;
    }
    let answer;
    try {
      answer = JSON.parse(body);
    } catch {
      answer = {};
    }
    if (response.ok && answer.attributes) {
      report("");
      $("key-form").hidden = true;
      return answer;
    }
    const { code = "", message = `the server answered with status ${response.status}` } = answer.error ?? {};
    if (response.status === 429 || response.status === 503) {
      const wait = Math.min(Math.max(Number(response.headers.get("Retry-After")) || backOff, 1), 300);
      report(`The server is busy: ${message}. Trying again in ${seconds(wait)}.`);
      await pause(wait * 1000, signal);
      continue;
    }
    if (response.ok) throw new Refusal(response.status, "", "this server is not toxscreen: check the address of the page");
    throw new Refusal(response.status, code, message);
  }
}

// report shows a problem, or with "" that there is none. It removes the scores of
// an earlier text, which would be taken for those of this one.
function report(problem) {
  const text = $("text").value;
  if (problem && state.result && text !== state.text) show(text, null);
  if ($("problem").textContent !== problem) $("problem").textContent = problem;
  $("problem").hidden = !problem;
  if (problem) announce(problem);
}

// announce makes screen readers say a sentence when they are idle; of several in
// quick succession, only the last.
let announcing;
function announce(sentence) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    $("announcement").textContent = sentence;
  }, 500);
}

let judgeState = "unknown"; // from GET readyz

// look checks whether the server has a judge.
async function look() {
  try {
    judgeState = (await (await fetch("readyz", { cache: "no-store" })).json()).judge ?? "unknown";
  } catch {
    return; // the first score reports that the server cannot be reached
  }
  $("server").textContent = {
    none: "No judge: scores are the classifier's.",
    answers: "The judge answers.",
    fails: "The judge does not answer: scores are the classifier's.",
  }[judgeState] ?? "";
}

let running = new AbortController();

// score shows the result of the current text, and the judge's verdict when that is
// known. Requests for an earlier text are aborted. The judge takes seconds and one
// text at a time, so it is asked only about a text that has not changed for rest
// milliseconds.
async function score(rest = 0) {
  clearTimeout(typing);
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const text = $("text").value;
  $("text").removeAttribute("aria-invalid");
  if (text === "") {
    report("");
    $("summary").removeAttribute("aria-busy");
    show("", null);
    return;
  }
  const screen = (how) => ask("v1/score", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    // The classifier's scores come at once, the verdict when it is known.
    body: JSON.stringify({ text, judge_wait: "0s", ...how }),
  }, signal);
  $("summary").setAttribute("aria-busy", "true");
  try {
    if (rest && judgeState !== "none") {
      // A late verdict would have to be stored; do_not_store prevents that.
      const draft = await screen({ do_not_store: true });
      $("summary").removeAttribute("aria-busy");
      show(text, draft, true);
      await pause(rest, signal);
    }
    let result = await screen();
    $("summary").removeAttribute("aria-busy");
    show(text, result);
    remember(text, result.score);
    const { id } = result.judge;
    for (let wait = 500; result.judge.pending && id; wait = Math.min(wait * 1.5, 5000)) {
      await pause(wait, signal);
      result = await fetchFinal(id, result, signal);
      if (result.judge.pending) continue;
      show(text, result);
      remember(text, result.score);
    }
  } catch (problem) {
    if (!signal.aborted) refused(problem);
  } finally {
    if (!signal.aborted) $("summary").removeAttribute("aria-busy");
  }
}

// fetchFinal returns the final result, or the pending one while there is none yet.
// If it cannot be fetched, the classifier's result stays.
async function fetchFinal(id, standing, signal) {
  try {
    return await ask(`v1/score/${encodeURIComponent(id)}`, {}, signal);
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    return { ...standing, judge: { ...standing.judge, pending: false, error: problem.message } };
  }
}

function refused(problem) {
  if (!(problem instanceof Refusal)) throw problem;
  if (problem.status === 401) {
    report(key ? "The server does not know this API key." : "This server requires an API key.");
    $("key-form").hidden = false;
    return;
  }
  if (problem.status === 413) $("text").setAttribute("aria-invalid", "true");
  report(`No new score: ${problem.message}.`);
}

/* The result. */

function show(text, result, draft = false) {
  Object.assign(state, { text, result, draft });
  $("examples").hidden = text !== "";
  showScore();
  showPassages();
  showText();
  showJudge();
  showList("warnings", result?.warnings ?? []);
  showVersions();
  showRequest();
  announce(summary());
}

const thresholdOf = (name) => state.thresholds[name] ?? state.result.attributes[name].threshold;

function isFlagged(name) {
  const measured = state.result.attributes[name];
  return name in state.thresholds ? measured.score >= state.thresholds[name] : measured.flagged;
}

const flaggedOnes = () => Object.keys(state.result.attributes).filter(isFlagged);

function meaning(score) {
  const people = Math.round(100 * score);
  if (people === 0) return "Fewer than 1 of 100 people would call this toxic.";
  if (people === 100) return "More than 99 of 100 people would call this toxic.";
  return `About ${people} of 100 people would call this toxic.`;
}

// summary is the result in a sentence or two.
function summary() {
  const { result } = state;
  if (!result) return "";
  const flagged = flaggedOnes();
  const by = flagged.length ? `flagged for ${flagged.map(words).join(", ")}` : "not flagged";
  const judge = result.judge.pending ? " The judge was asked." : result.judge.verdicts ? " The judge has answered." : "";
  const warnings = result.warnings.map((warning) => ` Warning: ${warning}.`).join("");
  return `Score ${number(result.score)}, severity ${result.severity}, ${by}.${judge}${warnings}`;
}

function showScore() {
  const { result } = state;
  $("score").textContent = result ? number(result.score) : "–";
  $("severity").textContent = result ? `severity: ${result.severity}` : "";
  $("summary").dataset.severity = result?.severity ?? "";
  $("meaning").textContent = result
    ? meaning(result.score) + (result.judge.pending ? " The judge may change that." : "")
    : "This will be the probability that people would call the text toxic.";
  showBars();
}

// showBars shows a row for each measured attribute. Rows are created once
// and then updated, so that a slider keeps the focus.
function showBars() {
  const names = Object.keys(state.result?.attributes ?? {});
  const list = $("attributes");
  if (state.result && list.dataset.names !== names.join()) {
    list.dataset.names = names.join();
    list.replaceChildren(...names.map(bar));
  }
  $("attributes-section").hidden = !state.result;
  $("flagged").hidden = !state.result || flaggedOnes().length === 0;
  $("reset").disabled = Object.keys(state.thresholds).length === 0;
  for (const name of names) {
    const row = list.children[names.indexOf(name)];
    const measured = state.result.attributes[name];
    row.style.setProperty("--score", measured.score);
    row.querySelector(".value").replaceChildren(number(measured.score), ...(isFlagged(name) ? [" ", make("strong", {}, "flagged")] : []));
    const slider = row.querySelector("input");
    slider.value = thresholdOf(name);
    slider.setAttribute("aria-valuetext", `${number(thresholdOf(name))}${name in state.thresholds ? "" : ", the server's"}`);
    slider.title = `flagged at or over ${number(thresholdOf(name))}`;
    const parts = [];
    if (number(measured.classifier) !== number(measured.score) || measured.judge !== undefined) parts.push(`classifier ${number(measured.classifier)}`);
    if (measured.judge !== undefined) parts.push(`judge ${number(measured.judge)}`);
    if (measured.plain !== undefined) parts.push(`as written ${number(measured.plain)}`);
    row.querySelector(".parts").textContent = parts.join(" · ");
    row.querySelector(".parts").hidden = parts.length === 0;
  }
}

function bar(name) {
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.01, ariaLabel: `Threshold of ${words(name)}` });
  slider.addEventListener("input", () => {
    state.thresholds[name] = Number(slider.value);
    thresholdsChanged();
  });
  const row = make("li", {},
    make("span", { className: "name" }, words(name)),
    make("span", { className: "value" }),
    make("div", { className: "scale" }, make("div", { className: "track" }, make("div", { className: "fill" })), slider),
    make("span", { className: "parts" }));
  row.style.setProperty("--colour", colour(name));
  return row;
}

function thresholdsChanged() {
  kept.set("thresholds", state.thresholds);
  showBars();
  showRequest();
  announce(summary());
}

function showList(id, sentences) {
  $(`${id}-section`).hidden = sentences.length === 0;
  $(id).replaceChildren(...sentences.map((sentence) => make("li", {}, sentence)));
}

function showVersions() {
  const versions = Object.entries(state.result?.versions ?? {});
  $("versions-section").hidden = versions.length === 0;
  $("versions").replaceChildren(...versions.flatMap(([name, version]) => [make("dt", {}, words(name)), make("dd", {}, version)]));
}

/* The text with its passages and spans. */

// inUTF16 returns a function from offsets of a result to offsets of a string.
function inUTF16(text, unit) {
  if (unit === "utf16") return (offset) => offset;
  const at = []; // index in text where each unit begins
  let i = 0;
  for (const character of text) {
    const point = character.codePointAt(0);
    const units = unit === "code_point" ? 1 : point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (let n = 0; n < units; n++) at.push(i);
    i += character.length;
  }
  return (offset) => at[offset] ?? i;
}

// showPassages lists the passages of a long text. The passage of a short text is the
// text itself.
function showPassages() {
  const { text, result } = state;
  const passages = result?.passages ?? [];
  const at = inUTF16(text, result?.offset_unit);
  const isWhole = ({ start, end }) => !/[^\s\p{C}]/u.test(text.slice(0, at(start)) + text.slice(at(end)));
  $("passages-section").hidden = !passages.length || isWhole(passages[0]);
  // Redrawing would remove the focus, so it is done only if a passage has changed.
  const shown = JSON.stringify([text, passages]);
  if ($("passages").dataset.shown === shown) return;
  $("passages").dataset.shown = shown;
  $("passages").replaceChildren(...passages.map(({ start, end, score }) => {
    const [from, to] = [at(start), at(end)];
    const button = make("button", { type: "button" }, make("span", {}, number(score)), make("span", { dir: "auto" }, text.slice(from, to)));
    button.addEventListener("click", () => reveal(from, to));
    return make("li", {}, button);
  }));
}

// reveal selects a part of the marked text and scrolls to it.
function reveal(from, to) {
  const marked = $("marked");
  const selection = getSelection();
  selection.setBaseAndExtent(...place(marked, from), ...place(marked, to));
  const { top } = selection.getRangeAt(0).getBoundingClientRect();
  marked.scrollTop += top - marked.getBoundingClientRect().top;
  marked.scrollIntoView({ block: "nearest" });
}

// place returns the text node and the offset in it for an offset in an element's text.
function place(element, offset) {
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let node = nodes.nextNode();
  while (offset > node.length) {
    offset -= node.length;
    node = nodes.nextNode();
  }
  return [node, offset];
}

// quotations returns the ranges of the text that the judge quoted, in order.
// Overlapping ranges are merged.
function quotations(result, at) {
  const joined = [];
  const found = (result.judge.verdicts ?? []).flatMap((v) => [...(v.addressed ?? []), ...(v.aspects ?? []).flatMap((a) => a.evidence ?? [])]);
  for (const [from, to] of found.map((e) => [at(e.start), at(e.end)]).sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

// mainAttribute returns the attribute that colours a span: the most probable one.
// Toxicity, which all spans have, counts only if it is the only one.
function mainAttribute(span) {
  const others = Object.entries(span.attributes).filter(([name]) => name !== "toxicity");
  return others.sort((a, b) => b[1] - a[1])[0]?.[0] ?? "toxicity";
}

function showText() {
  const { text, result } = state;
  $("marked-section").hidden = !result;
  if (!result) {
    hideTip();
    return;
  }
  const at = inUTF16(text, result.offset_unit);
  const quoted = quotations(result, at);
  const spans = result.spans ?? [];
  // Redrawing would remove the focus and the pointer's target, so it is done only
  // if a mark has changed.
  const shown = JSON.stringify([text, result.spans, quoted]);
  if ($("marked").dataset.shown === shown) return;
  $("marked").dataset.shown = shown;
  hideTip();
  const focused = [...$("marked").children].filter((e) => e.matches("mark")).indexOf(document.activeElement);
  const add = (parent, from, to) => {
    for (const [start, end] of quoted) {
      if (end <= from || start >= to) continue;
      parent.append(text.slice(from, Math.max(from, start)));
      from = Math.max(from, start);
      parent.append(make("span", { className: "quoted" }, text.slice(from, Math.min(to, end))));
      from = Math.min(to, end);
    }
    parent.append(text.slice(from, to));
  };
  const marked = make("div");
  let from = 0;
  for (const [i, span] of spans.entries()) {
    add(marked, from, at(span.start));
    const mark = make("mark", { tabIndex: i === 0 ? 0 : -1 });
    mark.style.setProperty("--colour", colour(mainAttribute(span)));
    mark.dataset.numbers = Object.entries(span.attributes).map(([name, p]) => `${words(name)} ${number(p)}`).join("\n");
    add(mark, at(span.start), at(span.end));
    marked.append(mark);
    from = at(span.end);
  }
  add(marked, from, text.length);
  $("marked").replaceChildren(...marked.childNodes);
  if (focused >= 0) ($("marked").querySelectorAll("mark")[focused] ?? $("text")).focus();
  // A long text scrolls: if no mark can have the focus, the whole text can.
  $("marked").tabIndex = spans.length ? -1 : 0;
  const hints = [];
  if (spans.length) hints.push(`Point at a marked word to see its numbers${spans.length > 1 ? ", or move between words with the arrow keys" : ""}.`);
  else hints.push(result.spans ? "No single word stands out." : "This model does not mark words.");
  if (quoted.length) hints.push("The judge quoted the words underlined with dashes.");
  $("marked-hint").textContent = hints.join(" ");
}

// The numbers of a mark stay for a moment after the pointer has left it, so that the
// pointer can move to them.
let tipped, leaving;
function showTip(mark) {
  clearTimeout(leaving);
  if (tipped === mark) return;
  hideTip();
  tipped = mark;
  const tip = $("tip");
  tip.textContent = mark.dataset.numbers;
  tip.hidden = false;
  mark.setAttribute("aria-describedby", "tip");
  const section = $("marked-section").getBoundingClientRect();
  const word = mark.getClientRects()[0];
  tip.style.left = `${Math.max(8, Math.min(word.left - section.left, section.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${word.bottom - section.top + 2}px`;
}

function hideTip() {
  clearTimeout(leaving);
  tipped?.removeAttribute("aria-describedby");
  tipped = undefined;
  $("tip").hidden = true;
}

function leaveTip() {
  clearTimeout(leaving);
  leaving = setTimeout(() => {
    if (tipped !== document.activeElement) hideTip();
  }, 300);
}

$("marked").addEventListener("pointerover", (event) => {
  const mark = event.target.closest("mark");
  if (mark) showTip(mark);
});
$("marked").addEventListener("pointerout", leaveTip);
$("tip").addEventListener("pointerenter", () => clearTimeout(leaving));
$("tip").addEventListener("pointerleave", leaveTip);
$("marked").addEventListener("focusin", (event) => {
  if (event.target.matches("mark")) showTip(event.target);
});
$("marked").addEventListener("focusout", hideTip);
$("marked").addEventListener("scroll", hideTip);
$("marked").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const marks = [...$("marked").querySelectorAll("mark")];
  const from = marks.indexOf(event.target);
  const to = marks[from + step];
  if (from < 0 || !to) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  to.tabIndex = 0;
  to.scrollIntoView({ block: "nearest" });
  to.focus({ preventScroll: true });
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});

/* The judge. */

function showJudge() {
  const { text, result } = state;
  $("judge-section").hidden = !result;
  if (!result) return;
  const { judge } = result;
  const out = [];
  const say = (sentence, className = "") => out.push(make("p", { className }, sentence));
  if (state.draft && !judge.asked) {
    $("judge").replaceChildren(make("p", { className: "hint" }, "The judge may be asked when you stop typing."));
    return;
  }
  if (judge.pending && judge.id) say("The judge was asked and has not answered yet.", "waiting");
  else if (judge.pending) say("The judge was asked and has not answered yet. This server does not store late results.");
  else if (judge.error) say(`The judge was asked, but there is no verdict: ${judge.error}`);
  else if (judge.asked) say(result.source === "fused" ? "The judge was asked, and its verdict is part of the score." : "The judge was asked. The score is the classifier's.");
  else say("The judge was not asked.");
  if (judge.why) out.push(make("p", { className: "hint" }, `Why: ${judge.why}.`));
  if (judge.raw) out.push(make("p", { className: "hint" }, "Its answer: ", make("q", {}, judge.raw)));
  const at = inUTF16(text, result.offset_unit);
  const quote = (e) => make("q", { dir: "auto" }, text.slice(at(e.start), at(e.end)));
  for (const verdict of judge.verdicts ?? []) {
    out.push(make("ul", { className: "aspects" }, ...(verdict.aspects ?? []).map((aspect) => aspectItem(aspect, quote))));
    if (verdict.addressed?.length) out.push(make("p", { className: "reason" }, "The text addresses the judge: ", ...separated(verdict.addressed.map(quote))));
    if (verdict.reason) out.push(make("p", { className: "reason" }, "Its reason: ", make("q", { dir: "auto" }, verdict.reason)));
    for (const warning of verdict.warnings ?? []) say(warning, "hint reason");
    say(`${verdict.model}, rubric ${verdict.rubric}${judge.milliseconds >= 100 ? `, ${(judge.milliseconds / 1000).toFixed(1)} s` : ""}`, "hint reason");
  }
  $("judge").replaceChildren(...out);
}

const separated = (elements) => elements.flatMap((element, i) => (i ? [", ", element] : [element]));

function aspectItem(aspect, quote) {
  const numbers = [];
  if (aspect.p_yes !== undefined) numbers.push(`probability of yes ${number(aspect.p_yes)}`);
  if (aspect.yes && aspect.severity !== undefined) numbers.push(`severity ${aspect.severity}`);
  const item = make("li", { className: aspect.yes ? "yes" : "no" },
    make("strong", {}, `${words(aspect.name)}: ${aspect.yes ? "yes" : "no"}`),
    make("span", { className: "hint" }, numbers.length ? ` (${numbers.join(", ")})` : ""));
  const details = [];
  if (aspect.evidence?.length) details.push(make("li", {}, "Quotes: ", ...separated(aspect.evidence.map(quote))));
  for (const violation of aspect.violations ?? []) details.push(make("li", {}, violation));
  if (aspect.not_in_text?.length) {
    details.push(make("li", { className: "hint" }, "Not in the text, so it does not count: ", ...separated(aspect.not_in_text.map((q) => make("q", { dir: "auto" }, q)))));
  }
  if (details.length) item.append(make("ul", {}, ...details));
  return item;
}

/* The same request in a program. */

// formats are the server's APIs, each with a request for the text: path, where the
// key goes, body, and a hint on the answer.
const formats = {
  toxscreen: {
    label: "toxscreen", path: "v1/score", header: "Authorization: Bearer ",
    body: (text) => (Object.keys(state.thresholds).length ? { text, thresholds: state.thresholds } : { text }),
    hint: "The native result, as on this page.",
  },
  perspective: {
    label: "Perspective", path: "v1alpha1/comments:analyze", query: "key",
    body: (text, names) => ({ comment: { text }, languages: ["en"], requestedAttributes: Object.fromEntries(names.map((name) => [name.toUpperCase(), {}])) }),
    hint: "High is toxic. Span offsets count UTF-16 units.",
  },
  openai: {
    label: "OpenAI", path: "v1/moderations", header: "Authorization: Bearer ",
    body: (text) => ({ model: "omni-moderation-latest", input: text }),
    hint: "High is toxic. Categories that were not assessed are 0 and have no applied input type.",
  },
  patronus: {
    label: "Patronus", path: "v1/evaluate", header: "X-API-KEY: ",
    body: (text) => ({ evaluators: [{ evaluator: "toxicity" }], evaluated_model_output: text }),
    hint: "High is toxic and fails. Positions count code points.",
  },
  litellm: {
    label: "LiteLLM", path: "beta/litellm_basic_guardrail_api", header: "x-api-key: ",
    body: (text) => ({ texts: [text], input_type: "request", request_data: {} }),
    hint: "The action says whether the texts may pass.",
  },
  writer: {
    label: "Writer", path: "v1/score?format=writer", header: "Authorization: Bearer ",
    body: (text) => ({ text }),
    hint: "Reversed: the score is for nontoxic, and low is toxic.",
  },
};

for (const [name, { label }] of Object.entries(formats)) {
  const input = make("input", { type: "radio", name: "format", value: name, checked: name === "toxscreen" });
  input.addEventListener("change", showRequest);
  $("formats").append(make("label", {}, input, make("span", {}, label)));
}

// shellWord quotes a string for a shell.
const shellWord = (s) => `'${s.replaceAll("'", "'\\''")}'`;

function showRequest() {
  const format = formats[document.querySelector("[name=format]:checked").value];
  const names = Object.keys(state.result?.attributes ?? { toxicity: 0 });
  const body = format.body(state.text || "you are a stupid idiot", names);
  let address = shellWord(new URL(format.path, document.baseURI).href);
  const lines = [];
  if (key && format.query) address += `"?${format.query}=$TOXSCREEN_KEY"`;
  lines.push(`curl ${address}`, "-H 'Content-Type: application/json'");
  if (key && format.header) lines.push(`-H "${format.header}$TOXSCREEN_KEY"`);
  lines.push(`-d ${shellWord(JSON.stringify(body))}`);
  $("request").textContent = lines.join(" \\\n  ");
  $("request-hint").textContent = format.hint + (key ? " Set TOXSCREEN_KEY to your key." : "");
}

$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("request").textContent);
    announce("Copied.");
    $("copy").textContent = "Copied";
  } catch {
    // Only pages from localhost or over TLS may write to the clipboard. On other
    // pages the request is selected for copying by hand.
    getSelection().selectAllChildren($("request"));
    $("request").focus();
    announce("Selected. Copy it with the keyboard.");
    $("copy").textContent = "Selected";
  }
  setTimeout(() => {
    $("copy").textContent = "Copy";
  }, 2000);
});

/* History. */

const longest = 20_000; // limit of a stored text in UTF-16 units
const most = 20; // texts
let growing = false; // whether the newest text is still being typed

const keeps = () => kept.get("keep", true);

// remember puts a text first in the history. A text that is still being typed
// replaces its earlier version.
function remember(text, score) {
  if (!keeps() || text.trim() === "" || text.length > longest) return;
  const texts = kept.get("history", []).filter((entry) => entry.text !== text);
  if (growing && texts.length && (text.startsWith(texts[0].text) || texts[0].text.startsWith(text))) texts.shift();
  growing = true;
  texts.unshift({ text, score });
  while (texts.length && !kept.set("history", texts.slice(0, most))) texts.pop();
  showHistory();
}

function showHistory() {
  const texts = kept.get("history", []);
  $("keep").checked = keeps();
  $("forget").disabled = texts.length === 0;
  const buttons = () => [...$("history").querySelectorAll("button")];
  const focused = buttons().indexOf(document.activeElement);
  $("history").replaceChildren(...texts.map(({ text, score }) => {
    const button = make("button", { type: "button" }, make("span", {}, number(score)), make("span", { dir: "auto" }, text));
    button.addEventListener("click", () => take(text));
    return make("li", {}, button);
  }));
  buttons()[focused]?.focus();
  $("history-hint").textContent = !keeps() ? "Texts are not stored."
    : texts.length ? "" : `The last ${most} texts, in this browser only.`;
}

$("keep").addEventListener("change", () => {
  kept.set("keep", $("keep").checked);
  if (!$("keep").checked) kept.set("history", []);
  showHistory();
});

$("forget").addEventListener("click", () => {
  kept.set("history", []);
  showHistory();
  $("keep").focus(); // the button is disabled now
  announce("The history is empty.");
});

/* Input. */

let typing; // the timer that waits for a pause in typing

function scoreSoon() {
  clearTimeout(typing);
  // A long text takes time, so it is scored once, after a longer pause.
  if ($("text").value.length > longest) typing = setTimeout(score, 1500);
  else typing = setTimeout(score, 350, 1000);
}

// take puts a text into the field and scores it.
function take(text) {
  growing = false;
  $("text").value = text;
  $("text").focus();
  score();
}

$("text").addEventListener("input", (event) => {
  clearTimeout(typing);
  running.abort(); // its text is outdated
  $("summary").setAttribute("aria-busy", "true");
  if (event.isComposing) return; // a character is being composed
  scoreSoon();
});
$("text").addEventListener("compositionend", scoreSoon);
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) score();
});
$("clear").addEventListener("click", () => take(""));
for (const button of $("examples").querySelectorAll("button")) {
  button.addEventListener("click", () => take(button.textContent));
}
$("reset").addEventListener("click", () => {
  state.thresholds = {};
  if (state.result) thresholdsChanged();
  document.querySelector(".bars input")?.focus(); // the button is disabled now
});
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key = $("key").value.trim();
  $("key").value = "";
  try {
    sessionStorage.setItem("toxscreen.key", key);
  } catch {
    // Then the key lasts as long as the page.
  }
  $("text").focus();
  score();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});

look();
showHistory();
show("", null);
if ($("text").value) score(); // text that the browser restored after a reload
