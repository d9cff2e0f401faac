// The text of a result with its sentences, spans, readings and passages.

import { $, colour, make, number, words } from "./dom.js";
import { explain, hideTip } from "./tip.js";

// inUTF16 returns a function from offsets of a result to offsets of a string.
export function inUTF16(text, unit) {
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

const lead = 40; // UTF-16 units of a sentence that may stand before the words that matter

// beginning returns where the sentence of an offset begins, not before start. If that is
// farther away than lead, it returns the offset.
function beginning(text, start, offset) {
  const from = Math.max(start, offset - lead);
  const ended = text.slice(from, offset).match(/.*([.!?…]["'”’)]*\s+|\n\s*)/s);
  if (ended) return from + ended[0].length;
  return from === start ? start : offset;
}

// causeOf returns where the words begin that a passage was chosen for: its first span, or
// without spans its worst sentence.
function causeOf({ start, end }, spans, sentences) {
  const inside = (parts) => parts.filter((part) => part.start < end && start < part.end);
  const worst = (parts) => parts.reduce((a, b) => (b.score > a.score ? b : a), { start, score: 0 });
  return Math.max(start, (inside(spans)[0] ?? worst(inside(sentences))).start);
}

// showPassages lists the passages of a long text, from the words that caused them. The
// passage of a short text is the text itself.
export function showPassages(text, result) {
  const at = inUTF16(text, result?.offset_unit);
  const placed = (parts) => (parts ?? []).map((part) => ({ ...part, start: at(part.start), end: at(part.end) }));
  const [passages, spans, sentences] = [placed(result?.passages), placed(result?.spans), placed(result?.sentences)];
  const isBlank = (part) => !/[^\s\p{C}]/u.test(part);
  $("passages-section").hidden = !passages.length || isBlank(text.slice(0, passages[0].start) + text.slice(passages[0].end));
  // Redrawing would remove the focus, so it is done only if a passage has changed.
  const shown = JSON.stringify([text, passages, spans, sentences]);
  if ($("passages").dataset.shown === shown) return;
  $("passages").dataset.shown = shown;
  $("passages").replaceChildren(...passages.map((passage) => {
    const cause = causeOf(passage, spans, sentences);
    const from = beginning(text, passage.start, cause);
    const words = make("span", { dir: "auto" }, isBlank(text.slice(passage.start, from)) ? "" : "… ");
    divided(spans, () => make("b"), (parent, from, to) => parent.append(text.slice(from, to)))(words, from, passage.end);
    const button = make("button", { type: "button" }, make("span", {}, number(passage.score)), words);
    button.addEventListener("click", () => reveal(passage.start, passage.end, cause));
    return make("li", {}, button);
  }));
}

// reveal selects a part of the marked text and scrolls to an offset in it.
function reveal(from, to, at = from) {
  const marked = $("marked");
  getSelection().setBaseAndExtent(...place(marked, from), ...place(marked, to));
  const seen = document.createRange();
  seen.setStart(...place(marked, at));
  seen.setEnd(...place(marked, at + 1));
  // What stands before the offset is above it, as far as there is room, and so are the
  // edges of its line.
  const above = at > from ? marked.clientHeight / 3 : 8;
  marked.scrollTop += seen.getBoundingClientRect().top - marked.getBoundingClientRect().top - above;
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
// Toxicity, which nearly all spans have, counts only if it is the only one.
function mainAttribute(span) {
  const others = Object.entries(span.attributes).filter(([name]) => name !== "toxicity");
  return others.sort((a, b) => b[1] - a[1])[0]?.[0] ?? "toxicity";
}

// heats are the lowest scores of the backgrounds of sentences. A sentence with a lower
// score has no background.
const heats = [0.2, 0.4, 0.6, 0.8];

const heat = (score) => heats.filter((lowest) => Number(number(score)) >= lowest).length;

// showText shows the text of a result: its sentences with their scores, its spans, and
// the words that the judge quoted.
export function showText(text, result) {
  $("marked-section").hidden = !result;
  if (!result) {
    hideTip();
    return;
  }
  const at = inUTF16(text, result.offset_unit);
  const quoted = quotations(result, at);
  const spans = (result.spans ?? []).map((s) => ({ ...s, start: at(s.start), end: at(s.end) }));
  const sentences = (result.sentences ?? []).map((s) => ({ ...s, start: at(s.start), end: at(s.end) }));
  showReadings(text, result, at);
  showSentences(sentences);
  // Redrawing would remove the focus and the pointer's target, so it is done only
  // if a mark has changed.
  const shown = JSON.stringify([text, spans, sentences, quoted]);
  if ($("marked").dataset.shown === shown) return;
  $("marked").dataset.shown = shown;
  hideTip();
  const focused = [...$("marked").querySelectorAll("mark")].indexOf(document.activeElement);
  // Each layer divides its part of the text and leaves the pieces to the layer below:
  // sentences, spans, quotations.
  const quotes = divided(quoted.map(([start, end]) => ({ start, end })), () => make("span", { className: "quoted" }), (parent, from, to) => parent.append(text.slice(from, to)));
  let first = true;
  const marks = divided(spans, (span) => {
    const mark = make("mark", { tabIndex: first ? 0 : -1 });
    first = false;
    mark.style.setProperty("--colour", colour(mainAttribute(span)));
    mark.dataset.numbers = Object.entries(span.attributes).map(([name, p]) => `${words(name)} ${number(p)}`).join("\n");
    return mark;
  }, quotes);
  // The background and the number do not belong to the blanks around a sentence.
  const seen = sentences.filter((s) => heat(s.score) > 0).map((s) => {
    const sentence = text.slice(s.start, s.end);
    return { ...s, start: s.end - sentence.trimStart().length, end: s.start + sentence.trimEnd().length };
  });
  const marked = make("div");
  divided(seen, ({ score }) => {
    const sentence = make("span", { className: "sentence" });
    Object.assign(sentence.dataset, { heat: heat(score), score: number(score) });
    return sentence;
  }, marks)(marked, 0, text.length);
  $("marked").replaceChildren(...marked.childNodes);
  if (focused >= 0) ($("marked").querySelectorAll("mark")[focused] ?? $("text")).focus();
  // A long text scrolls: if no mark can have the focus, the whole text can.
  $("marked").tabIndex = spans.length ? -1 : 0;
  const hints = [];
  if (spans.length) hints.push(`Point at a marked word to see its numbers${spans.length > 1 ? ", or move between words with the arrow keys" : ""}.`);
  else hints.push(result.spans ? "No single word stands out." : "This model does not mark words.");
  if (quoted.length) hints.push("The judge quoted the words underlined with dashes.");
  if (result.entities?.length === 0) hints.push("No personal data was found.");
  $("marked-hint").textContent = hints.join(" ");
}

// divided returns a function that adds a part of the text to an element. The ranges in
// it, which are ordered and free of overlap, become elements; below adds each piece of
// text inside and between them.
function divided(ranges, element, below) {
  return (parent, from, to) => {
    for (const range of ranges) {
      const [start, end] = [Math.max(range.start, from), Math.min(range.end, to)];
      if (start >= end) continue;
      if (from < start) below(parent, from, start);
      const inside = element(range);
      below(inside, start, end);
      parent.append(inside);
      from = end;
    }
    if (from < to) below(parent, from, to);
  };
}

// showSentences shows the scores of several sentences as a strip of bars, the first
// sentence at its left end, and leads to the highest one: a long text does not fit
// below.
function showSentences(sentences) {
  $("legend").hidden = sentences.length === 0;
  $("sentences").hidden = sentences.length < 2;
  if (sentences.length < 2) return;
  const worst = sentences.reduce((a, b) => (b.score > a.score ? b : a));
  const hot = heat(worst.score) > 0;
  $("highest").hidden = !hot;
  $("highest").textContent = `Show the highest: ${number(worst.score)}`;
  $("highest").onclick = () => reveal(worst.start, worst.end);
  // The server divides a text into at most 100 parts.
  const parts = sentences.length > 50 ? "sentences or groups of sentences" : "sentences";
  $("sentences-hint").textContent = `${sentences.length} ${parts}, each scored by itself${hot ? "" : `: none reaches ${heats[0]}`}.`;
  $("strip").replaceChildren(...sentences.map(({ start, end, score }) => {
    const bar = make("span");
    bar.style.flexGrow = end - start;
    bar.style.setProperty("--score", score);
    return bar;
  }));
}

for (const [i, lowest] of heats.entries()) {
  const swatch = make("span", { className: "swatch" });
  swatch.dataset.heat = i + 1;
  const to = heats[i + 1];
  $("heats").append(make("li", {}, swatch, to ? `${lowest} to ${to}` : `${lowest} and over`));
}

const mostReadings = 20; // that are listed

// showReadings lists the words that are read differently than they are written.
function showReadings(text, result, at) {
  const counts = new Map();
  for (const { start, end, read_as: readAs } of result.readings ?? []) {
    const pair = JSON.stringify([text.slice(at(start), at(end)), readAs]);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  $("readings-part").hidden = counts.size === 0;
  const items = [...counts].slice(0, mostReadings).map(([pair, count]) => {
    const [written, readAs] = JSON.parse(pair);
    return make("li", {},
      make("bdi", { className: "written" }, written), ...disguises(written),
      make("span", { ariaHidden: "true" }, " → "), make("span", { className: "unseen" }, " is read as "),
      make("bdi", {}, readAs), ...(count > 1 ? [make("span", { className: "hint" }, ` ${count} times`)] : []));
  });
  if (counts.size > mostReadings) items.push(make("li", { className: "hint" }, `and ${counts.size - mostReadings} more`));
  $("readings").replaceChildren(...items);
  const plain = result.attributes.toxicity?.plain;
  $("readings-hint").textContent = plain === undefined ? "The score hardly depends on how they are read." : `The classifier gives the text ${number(plain)} as it is written.`;
}

// disguises names the characters of a word that may look like others, or like nothing.
function disguises(written) {
  const odd = [...new Set([...written].filter((c) => c > "~"))].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  if (odd.length === 0) return [];
  return [make("span", { className: "hint" }, ` (${odd.slice(0, 3).join(", ")}${odd.length > 3 ? ", …" : ""})`)];
}

explain($("marked"), "mark", (mark) => mark.dataset.numbers);
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
