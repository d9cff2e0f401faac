// The playground: one text or several, their results, and actions on both.

import { decided, decision, movedThresholds, showBars } from "./attributes.js";
import { $, announce, colour, copy, make, number, separated, words } from "./dom.js";
import { showFeedback, visit } from "./feedback.js";
import { formats, languages } from "./formats.js";
import { showPersonal } from "./personal.js";
import { forget, keep, keeps, kept, setKeeps } from "./storage.js";
import { inUTF16, showPassages, showText } from "./text.js";

// entry returns a text that is shown, alone or beside others.
const entry = (text, stage = "") => ({
  text, // the scored text; that of the field may be newer
  stage, // typing or opened if the judge was not asked about it; else ""
  result: null, // its latest result
  request: null, // the body of the request that the result answers
  problem: "", // why there is no result
});

const state = {
  texts: [entry("")],
  at: 0, // index of the text in the field
};

const current = () => state.texts[state.at];

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

// ask returns the server's answer, from JSON with a field. While the server cannot be
// reached or is busy, it says so and tries again. It throws when signal is aborted or the
// server rejects the request.
async function ask(path, request, signal, say = report, field = "attributes") {
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
      say(`The server cannot be reached: is it running? Trying again in ${seconds(backOff)}.`);
      await pause(backOff * 1000, signal);
      continue;
    }
    let answer;
    try {
      answer = JSON.parse(body);
    } catch {
      answer = {};
    }
    if (response.ok && answer[field]) {
      say("");
      $("key-form").hidden = true;
      return answer;
    }
    const { code = "", message = `the server answered with status ${response.status}` } = answer.error ?? {};
    if (response.status === 429 || response.status === 503) {
      const wait = Math.min(Math.max(Number(response.headers.get("Retry-After")) || backOff, 1), 300);
      say(`The server is busy: ${message}. Trying again in ${seconds(wait)}.`);
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
  if (problem && current().result && text !== current().text) show(text, null);
  if ($("problem").textContent !== problem) $("problem").textContent = problem;
  $("problem").hidden = !problem;
  if (problem) announce(problem);
}

let judgeState = "unknown"; // from GET readyz
let findsEntities = false; // likewise
let storesFeedback = false; // likewise

// look checks whether the server has a judge, looks for personal data and stores feedback.
async function look() {
  try {
    const ready = await (await fetch("readyz", { cache: "no-store" })).json();
    judgeState = ready.judge ?? "unknown";
    findsEntities = Boolean(ready.entities);
    storesFeedback = Boolean(ready.feedback);
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

// body returns the body of a request for a text. With a judge, the classifier's scores
// come at once, and the verdict when it is known.
const body = (text, how) => ({ text, sentences: true, ...(findsEntities && { pii: true }), ...(judgeState === "none" ? {} : { judge_wait: "0s", ...how }) });

// unjudged is how a request says that the judge must not be asked: a late verdict would
// have to be stored.
const unjudged = { do_not_store: true };

const inJSON = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const post = (request, signal, say) => ask("v1/score", inJSON(request), signal, say);

// sendLabels sends what the user says about the text that is shown. It returns a problem,
// or "" when the server has stored it.
async function sendLabels(labels, signal, say) {
  try {
    await ask("v1/feedback", inJSON({ text: current().text, labels, token: visit }), signal, say, "stored");
    return "";
  } catch (problem) {
    if (signal.aborted) return "";
    if (!(problem instanceof Refusal)) throw problem;
    if (problem.status !== 401) return `Not stored: ${problem.message}. Your answer is still here: send it again later.`;
    refused(problem);
    return "Not stored: this server requires an API key. Enter it below the text, then send again.";
  }
}

// score shows the result of the text in the field, and the judge's verdict when that is
// known. Requests for an earlier text are aborted. The judge takes seconds and one
// text at a time, so it is asked only about a text that has not changed for rest
// milliseconds, and never about one that was opened and not written here.
async function score(rest = 0, opened = false) {
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
  $("summary").setAttribute("aria-busy", "true");
  try {
    if (opened || rest && judgeState !== "none") {
      const request = body(text, unjudged);
      const result = await post(request, signal);
      $("summary").removeAttribute("aria-busy");
      show(text, result, request, opened ? "opened" : "typing");
      if (opened) return;
      await pause(rest, signal);
    }
    const request = body(text);
    let result = await post(request, signal);
    $("summary").removeAttribute("aria-busy");
    show(text, result, request);
    remember(text, result.score);
    const { id } = result.judge;
    for (let wait = 500; result.judge.pending && id; wait = Math.min(wait * 1.5, 5000)) {
      await pause(wait, signal);
      result = await fetchFinal(id, result, signal);
      if (result.judge.pending) continue;
      show(text, result, request);
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

function show(text, result, request = null, stage = "") {
  Object.assign(current(), { text, result, request, stage, problem: "" });
  showScore();
  showFeedback(text, result, storesFeedback ? sendLabels : null);
  showPassages(text, result);
  showText(text, result);
  showPersonal(text, result);
  showJudge();
  showVersions();
  showTexts();
  showRequest();
  announce(summary());
}

function meaning(score) {
  const people = Math.round(100 * score);
  if (people === 0) return "Fewer than 1 of 100 people would call this toxic.";
  if (people === 100) return "More than 99 of 100 people would call this toxic.";
  return `About ${people} of 100 people would call this toxic.`;
}

// summary is the result in a sentence or two.
function summary() {
  const { result } = current();
  if (!result) return "";
  const severity = result.not_decided ? "" : ` Severity: ${result.severity}.`;
  const judge = result.judge.pending ? " The judge was asked." : result.judge.verdicts ? " The judge has answered." : "";
  const personal = result.entities?.length ? ` Personal data: ${result.entities.map(({ type }) => words(type)).slice(0, 5).join(", ")}.` : "";
  const warnings = result.warnings.map((warning) => ` Warning: ${warning}.`).join("");
  return `Score ${number(result.score)}. ${decision(result)}.${severity}${judge}${personal}${warnings}`;
}

function showScore() {
  const { text, result } = current();
  $("score").textContent = result ? number(result.score) : "–";
  $("decision").replaceChildren(result ? decided(result) : "No score");
  $("summary").dataset.severity = result?.severity ?? "";
  $("meaning").textContent = text === "" ? "Write a text or choose an example: the score will be the probability that people would call it toxic."
    : !result ? "This text has not been scored."
    : result.not_decided ? "The scores mean little."
    : `${meaning(result.score)} Severity: ${result.severity}.${result.judge.pending ? " The judge may change that." : ""}`;
  const warnings = result?.warnings ?? [];
  $("warnings").hidden = warnings.length === 0;
  $("warnings").replaceChildren(...warnings.map((warning) => make("li", {}, warning)));
  showBars(result);
}

$("attributes").addEventListener("thresholds", () => {
  showScore();
  showTexts();
  showRequest();
  announce(summary());
});

function showVersions() {
  const versions = Object.entries(current().result?.versions ?? {});
  $("versions").hidden = versions.length === 0;
  $("versions").replaceChildren(...versions.map(([name, version]) => make("div", {}, make("dt", {}, words(name)), make("dd", {}, version))));
}

/* Several texts. */

const mostTexts = 10; // that are compared

// showTexts lists the texts with their scores and bars if there are several.
function showTexts() {
  const { texts } = state;
  $("texts-section").hidden = texts.length === 1;
  $("add").disabled = texts.length === mostTexts;
  $("add").title = texts.length === mostTexts ? `at most ${mostTexts} texts can be compared` : "";
  const focused = [...$("texts").querySelectorAll("button")].indexOf(document.activeElement);
  $("texts").replaceChildren(...(texts.length === 1 ? [] : texts.map(compared)));
  if (focused >= 0) $("texts").querySelectorAll("button")[focused]?.focus();
}

// compared returns the list item of a text.
function compared({ text, result, problem }, i) {
  const choose = make("button", { type: "button", className: "choose" }, make("span", {}, `${i + 1}`), make("span", { dir: "auto" }, text || "(empty)"));
  choose.addEventListener("click", () => select(i));
  const remove = make("button", { type: "button", ariaLabel: `Remove text ${i + 1}` }, "Remove");
  remove.addEventListener("click", () => removeText(i));
  const said = make("p", { className: "said" });
  const item = make("li", {}, make("div", { className: "row" }, choose, remove), said);
  if (i === state.at) choose.ariaCurrent = "true";
  if (!result) {
    said.append("no score");
    if (problem) item.append(make("p", { className: "hint" }, problem));
    return item;
  }
  said.append(make("span", { className: "score" }, number(result.score)), " ", decided(result));
  item.append(make("ul", { className: "small" }, ...Object.entries(result.attributes).map(([name, measured]) => {
    const bar = make("li", {},
      make("span", { className: "name" }, words(name)),
      make("span", { className: "value" }, number(measured.score)),
      make("div", { className: "track" }, make("div", { className: "fill" })));
    bar.style.setProperty("--colour", colour(name));
    bar.style.setProperty("--score", measured.score);
    return bar;
  })));
  return item;
}

// leave keeps the text of the field before another one takes its place.
function leave() {
  const text = $("text").value;
  if (text !== current().text) Object.assign(current(), entry(text));
}

let scoring = new AbortController();

// scoreOthers scores the texts that have no score, other than the one in the field. The
// judge is asked when they are selected.
async function scoreOthers() {
  scoring.abort();
  scoring = new AbortController();
  const { signal } = scoring;
  for (const other of state.texts) {
    if (other === current() || other.result || other.text === "") continue;
    const say = (problem) => {
      other.problem = problem;
      showTexts();
    };
    const request = body(other.text, unjudged);
    try {
      const result = await post(request, signal, say);
      Object.assign(other, { result, request, stage: other.stage || "typing" });
    } catch (problem) {
      if (signal.aborted) return;
      if (!(problem instanceof Refusal)) throw problem;
      other.problem = `${problem.message}.`;
    }
    showTexts();
  }
}

// select puts one of the texts into the field, with the result that it has.
function select(i) {
  leave();
  state.at = i;
  growing = false;
  clearTimeout(typing);
  running.abort();
  replaced = "";
  $("restore").hidden = true;
  report("");
  $("summary").removeAttribute("aria-busy");
  const { text, result, request, stage } = current();
  $("text").value = text;
  show(text, result, request, stage);
  if (text && (!result || result.judge.pending || stage === "typing")) score(0, stage === "opened");
  scoreOthers();
}

function removeText(i) {
  unlink();
  leave();
  state.texts.splice(i, 1);
  const next = state.at > i ? state.at - 1 : Math.min(state.at, state.texts.length - 1);
  state.at = next;
  $("text").value = current().text; // before select keeps it
  select(next);
  announce(`Text ${i + 1} was removed.`);
  const buttons = $("texts").querySelectorAll(".row button:last-child");
  (buttons[Math.min(i, buttons.length - 1)] ?? $("add")).focus();
}

$("add").addEventListener("click", () => {
  unlink();
  leave();
  state.texts.push(entry(""));
  $("text").value = "";
  state.at = state.texts.length - 1;
  select(state.at);
  $("text").focus();
});

// open shows texts that were not written here: the judge is not asked about them, and
// nothing of them is stored.
function open(texts) {
  Object.assign(state, { texts: texts.map((text) => entry(text, "opened")), at: 0 });
  $("text").value = texts[0];
  select(0);
}

/* Links. */

const longestLink = 30_000; // limit of what follows the # of a link, in characters

// allTexts returns the texts, of which that of the field may be newer, without empty ones.
const allTexts = () => state.texts.map(({ text }, i) => (i === state.at ? $("text").value : text)).filter((text) => text !== "");

// encoded returns a text for a fragment, also without the punctuation that programs do
// not take for a part of a link.
const encoded = (text) => encodeURIComponent(text.toWellFormed()).replace(/[!'()*~.]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

// The texts are in the fragment, the part of an address that browsers do not send.
$("link").addEventListener("click", () => {
  const texts = allTexts();
  const fragment = texts.map((text) => `text=${encoded(text)}`).join("&");
  $("link-text").hidden = true;
  if (!texts.length || fragment.length > longestLink) {
    const problem = !texts.length ? "There is no text to link."
      : `No link: it would have ${fragment.length.toLocaleString("en")} characters after the #, and the limit is ${longestLink.toLocaleString("en")}.`;
    sayOfLink(problem);
    return;
  }
  $("link-text").textContent = `${location.origin}${location.pathname}#${fragment}`;
  sayOfLink(`The link has ${texts.length === 1 ? "the text" : `the ${texts.length} texts`} after its #, which browsers do not send to the server. Whoever gets the link can read ${texts.length === 1 ? "it" : "them"}.`);
  copy($("link"), $("link-text"));
});

function sayOfLink(sentence) {
  $("link-hint").textContent = sentence;
  $("link-hint").hidden = !sentence;
  if (sentence) announce(sentence);
}

// linked returns the texts of the address of the page, or null if it has none.
function linked() {
  const fragment = location.hash.slice(1);
  if (!fragment.startsWith("text=")) return null;
  if (fragment.length > longestLink) {
    sayOfLink(`The link is too long: it has ${fragment.length.toLocaleString("en")} characters after the #, and the limit is ${longestLink.toLocaleString("en")}.`);
    return null;
  }
  // The field has no carriage returns.
  const texts = new URLSearchParams(fragment).getAll("text").map((text) => text.replace(/\r\n?/g, "\n")).filter((text) => text !== "");
  if (texts.length > mostTexts) sayOfLink(`The link has ${texts.length} texts: only the first ${mostTexts} are shown.`);
  return texts.length ? texts.slice(0, mostTexts) : null;
}

// unlink removes the texts from the address of the page: they are no longer what it shows.
function unlink() {
  sayOfLink("");
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}

addEventListener("hashchange", () => {
  sayOfLink("");
  const texts = linked();
  if (texts) open(texts);
});

/* The judge. */

function showJudge() {
  const { text, result, stage } = current();
  // That there is no judge is said above already.
  $("judge-section").hidden = !result || judgeState === "none" && !result.judge.asked;
  if (!result) return;
  const { judge } = result;
  const out = [];
  const say = (sentence, className = "") => out.push(make("p", { className }, sentence));
  if (stage && judgeState !== "none" && !judge.asked) {
    const when = stage === "typing" ? "The judge may be asked when you stop typing." : "The judge is not asked about a text that was only opened. Press Ctrl+Enter in the text to ask it.";
    $("judge").replaceChildren(make("p", { className: "hint" }, when));
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
    if (verdict.passage && text.length > at(verdict.passage.end) - at(verdict.passage.start)) out.push(make("p", { className: "hint reason" }, "It saw: ", quote(verdict.passage)));
    if (verdict.core?.length) out.push(make("p", { className: "hint reason" }, "It was also asked about this alone: ", ...separated(verdict.core.map(quote))));
    if (verdict.addressed?.length) out.push(make("p", { className: "reason" }, "The text addresses the judge: ", ...separated(verdict.addressed.map(quote))));
    if (verdict.reason) out.push(make("p", { className: "reason" }, "Its reason: ", make("q", { dir: "auto" }, verdict.reason)));
    for (const warning of verdict.warnings ?? []) say(warning, "hint reason");
    say(`${verdict.model}, rubric ${verdict.rubric}${judge.milliseconds >= 100 ? `, ${(judge.milliseconds / 1000).toFixed(1)} s` : ""}`, "hint reason");
  }
  $("judge").replaceChildren(...out);
}

function aspectItem(aspect, quote) {
  const numbers = [];
  if (aspect.p_yes !== undefined) numbers.push(`probability of yes ${number(aspect.p_yes)}`);
  if (aspect.yes && aspect.severity !== undefined) numbers.push(`severity ${aspect.severity}`);
  if (aspect.yes_alone !== undefined) numbers.push(`alone ${aspect.yes_alone ? "yes" : "no"}${aspect.p_yes_alone === undefined ? "" : ` ${number(aspect.p_yes_alone)}`}`);
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

/* The request and the answer in each format. */

// offer adds a choice for each of some formats or languages, and chooses the first.
function offer(id, group, choices) {
  for (const [i, [name, { label }]] of Object.entries(choices).entries()) {
    const input = make("input", { type: "radio", name: group, value: name, checked: i === 0, autocomplete: "off" });
    input.addEventListener("change", showRequest);
    $(id).append(make("label", {}, input, make("span", {}, label)));
  }
}

const chosen = (group) => document.querySelector(`[name=${group}]:checked`).value;

offer("formats", "format", formats);
offer("languages", "language", languages);

// requestIn returns the body of the request for the current text in a format, as JSON.
function requestIn(format) {
  const { text, result, request } = current();
  const shown = text || "some text";
  if (format !== formats.native) return JSON.stringify(format.body(shown, Object.keys(result?.attributes ?? { toxicity: 0 })));
  const thresholds = movedThresholds();
  return JSON.stringify({ ...(request ?? body(shown)), ...(Object.keys(thresholds).length && { thresholds }) });
}

function showRequest() {
  const format = formats[chosen("format")];
  const language = languages[chosen("language")];
  const request = requestIn(format);
  $("request").textContent = language.code(format, request, key !== "");
  $("request-hint").textContent = [language.hint, key && "Set TOXSCREEN_KEY to your key."].filter(Boolean).join(" ");
  $("answer-hint").textContent = format.hint;
  $("format-document").href = $("documents").href + "/" + format.document;
  $("format-document").textContent = `About the ${format.label} format`;
  showAnswer(format, request);
}

const longestAnswer = 50_000; // limit of what is shown of an answer, in UTF-16 units
let answering = new AbortController();
let answered = ""; // the request whose answer is shown

// showAnswer shows the server's answer to a request in a format. The native one is known
// already, unless thresholds were moved. The others are requested once the text has its
// result, since only then is it complete and accepted.
async function showAnswer(format, request) {
  const { result, stage } = current();
  const asked = JSON.stringify([format.path, request, stage, result?.judge]);
  if (result && asked === answered) return;
  answering.abort();
  answering = new AbortController();
  const { signal } = answering;
  answered = asked;
  $("answer").removeAttribute("aria-busy");
  if (!result) {
    printAnswer("", "The answer is here when the text has a score.");
  } else if (format === formats.native && request === JSON.stringify(current().request)) {
    const { id, pending } = result.judge;
    printAnswer(JSON.stringify(result), id && !pending ? `Status 200. This is the final result, from GET v1/score/${id}.` : "Status 200.");
  } else if (stage === "typing") {
    printAnswer("…", "The answer is here when you stop typing.");
  } else {
    printAnswer("…", "Waiting for the answer.");
    $("answer").setAttribute("aria-busy", "true");
    try {
      const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
      const response = await fetch(format.path, { method: "POST", headers, body: request, signal, cache: "no-store" });
      printAnswer(await response.text(), `Status ${response.status}.`);
    } catch {
      if (signal.aborted) return;
      answered = ""; // so that it is requested again
      printAnswer("…", "There is no answer: the server cannot be reached.");
    }
    $("answer").removeAttribute("aria-busy");
  }
}

// printAnswer shows a body, JSON on several lines, and a sentence about it.
function printAnswer(body, status) {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Then it is shown as it came.
  }
  const more = text.length - longestAnswer;
  $("answer").textContent = more > 0 ? `${text.slice(0, longestAnswer)}\n… ${more.toLocaleString("en")} more characters` : text;
  $("answer").hidden = text === "";
  $("answer-status").textContent = status;
}

$("copy").addEventListener("click", () => copy($("copy"), $("request")));

/* History. */

const longest = 20_000; // limit of a stored text in UTF-16 units
const most = 20; // texts
let growing = false; // whether the newest text is still being typed

// remember puts a text first in the history. A text that is still being typed
// replaces its earlier version.
function remember(text, score) {
  if (!keeps() || text.trim() === "" || text.length > longest) return;
  const texts = kept("history", []).filter((entry) => entry.text !== text);
  if (growing && texts.length && (text.startsWith(texts[0].text) || texts[0].text.startsWith(text))) texts.shift();
  growing = true;
  texts.unshift({ text, score });
  while (texts.length && !keep("history", texts.slice(0, most))) texts.pop();
  showHistory();
}

function showHistory() {
  const texts = kept("history", []);
  $("keep").checked = keeps();
  $("forget").hidden = !keeps();
  const buttons = () => [...$("history").querySelectorAll("button")];
  const focused = buttons().indexOf(document.activeElement);
  $("history").hidden = texts.length === 0;
  $("history").replaceChildren(...texts.map(({ text, score }) => {
    const button = make("button", { type: "button" }, make("span", {}, number(score)), make("span", { dir: "auto" }, text));
    button.addEventListener("click", () => {
      takeOver(text);
      $("text").focus();
    });
    return make("li", {}, button);
  }));
  buttons()[focused]?.focus();
  $("history-hint").textContent = keeps() ? `The last ${most} texts are stored in this browser only.` : "Nothing is stored in this browser.";
}

$("keep").addEventListener("change", () => {
  const could = setKeeps($("keep").checked);
  keep("thresholds", movedThresholds());
  const { text, result, stage } = current();
  if (result && stage !== "opened") remember(text, result.score);
  showHistory();
  showBars(result);
  if (!could) $("history-hint").textContent = "This browser does not let the page store anything.";
});

$("forget").addEventListener("click", () => {
  forget();
  showHistory();
  $("keep").focus();
  announce("Everything that was kept is removed.");
});

/* Input. */

let typing; // the timer that waits for a pause in typing

function scoreSoon() {
  clearTimeout(typing);
  // A long text takes time, so it is scored once, after a longer pause.
  if ($("text").value.length > longest) typing = setTimeout(score, 1500);
  else typing = setTimeout(score, 350, 1000);
}

let replaced = ""; // the user's text that an example or nothing took the place of

// take puts a text into the field and scores it.
function take(text) {
  unlink();
  growing = false;
  $("text").value = text;
  score();
}

// takeOver is take for a text in the place of what is in the field, which can be put back.
function takeOver(text) {
  const before = $("text").value;
  if (before.trim() !== "" && !isExample(before)) replaced = before;
  $("restore").hidden = replaced === "" || replaced === text;
  take(text);
}

$("text").addEventListener("input", (event) => {
  unlink();
  replaced = "";
  $("restore").hidden = true;
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
$("clear").addEventListener("click", () => {
  takeOver("");
  $("text").focus();
});
$("restore").addEventListener("click", () => {
  take(replaced);
  replaced = "";
  $("restore").hidden = true;
  $("text").focus();
});

const examples = [...$("examples").querySelectorAll("button")];
const isExample = (text) => examples.some((button) => button.value === text);
for (const button of examples) button.addEventListener("click", () => takeOver(button.value));

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
  score(0, current().stage === "opened" && $("text").value === current().text);
  scoreOthers();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) look();
});

showHistory();
show($("text").value, null);
await look();
const texts = linked();
if (texts) open(texts);
else if ($("text").value) score(); // text that the browser restored after a reload
else open([examples[0].value]); // it has a disguised word and sentences that differ
