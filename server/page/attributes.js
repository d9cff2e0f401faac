// The attributes of a result: what they mean, their scores and thresholds, and what is
// flagged by these.

import { $, colour, copy, make, number, words } from "./dom.js";
import { keep, keeps, kept } from "./storage.js";
import { explain } from "./tip.js";

// meanings are the definitions of docs/model/guideline.md, by which the model was trained.
const meanings = {
  toxicity: "Rude, disrespectful or unreasonable, so that it is likely to make somebody leave a discussion.",
  severe_toxicity: "Very hateful, aggressive or disrespectful; likely to make most people leave.",
  insult: "Insulting, inflammatory or negative towards a person or a group of people.",
  profanity: "Swear words, curses, obscene or vulgar language, disguised ones included.",
  identity_attack: "Negative, hateful or demeaning towards somebody because of identity: ethnicity, nationality, religion, gender, orientation, disability, age, caste, migration.",
  threat: "States an intention, wish or call to inflict pain, injury or violence on a person or group, or intimidates by announcing harm.",
  sexually_explicit: "Refers to sexual acts, sexual body parts in a sexual sense, or other lewd content.",
};

let moved = kept("thresholds", {}); // thresholds that the user moved
const standing = {}; // the server's thresholds, as far as a result has told them
let latest = null; // the result that is shown

// movedThresholds returns the thresholds that differ from the server's.
export const movedThresholds = () => moved;

const thresholdOf = (name) => moved[name] ?? standing[name];

// isFlagged tells whether an attribute is flagged by the thresholds of this page. In a
// text that is not decided, none is.
function isFlagged(result, name) {
  const measured = result.attributes[name];
  if (result.not_decided) return false;
  return name in moved ? measured.score >= moved[name] : measured.flagged;
}

const list = new Intl.ListFormat("en-GB");

// decision says what is flagged, the general attribute last.
export function decision(result) {
  if (result.not_decided) return `Not decided: ${result.not_decided}`;
  const flagged = Object.keys(result.attributes).filter((name) => isFlagged(result, name));
  flagged.sort((a, b) => (a === "toxicity") - (b === "toxicity"));
  return flagged.length ? `Flagged for ${list.format(flagged.map(words))}` : "Not flagged";
}

// decided returns decision as an element, which stands out if something is flagged.
export function decided(result) {
  const said = decision(result);
  return make(said.startsWith("Flagged") ? "strong" : "span", { className: result.not_decided ? "undecided" : "decision" }, said);
}

// showBars shows a row for each measured attribute, or of no result a row without scores.
// Rows are created once and then updated, so that a slider keeps the focus.
export function showBars(result) {
  latest = result;
  const rows = $("attributes");
  const names = Object.keys(result?.attributes ?? (rows.children.length ? {} : meanings));
  if (names.length && rows.dataset.names !== names.join()) {
    rows.dataset.names = names.join();
    rows.replaceChildren(...names.map(bar));
  }
  for (const name of names) if (result) standing[name] = result.attributes[name].threshold;
  for (const row of rows.children) showBar(row, result?.attributes[row.dataset.name]);
  const differs = Object.keys(moved).length > 0;
  $("reset").disabled = !differs;
  $("copy-yaml").disabled = !differs;
  $("yaml").textContent = differs ? yaml() : "";
  if (!differs) $("yaml").hidden = true;
  $("thresholds-hint").textContent = `Move a mark to change the threshold of an attribute on this page${keeps() ? ", also for your next visit" : ""}.`;
}

function showBar(row, measured) {
  const { name } = row.dataset;
  row.style.setProperty("--score", measured?.score ?? 0);
  row.querySelector(".value").replaceChildren(measured ? number(measured.score) : "–", ...(measured && isFlagged(latest, name) ? [" ", make("strong", {}, "flagged")] : []));
  const slider = row.querySelector("input");
  const threshold = thresholdOf(name);
  slider.hidden = threshold === undefined;
  if (threshold !== undefined) {
    slider.value = threshold;
    slider.setAttribute("aria-valuetext", `${number(threshold)}${name in moved ? "" : ", the server's"}`);
    row.querySelector("output").textContent = number(threshold);
    row.style.setProperty("--threshold", threshold);
  }
  const parts = [];
  if (measured && (number(measured.classifier) !== number(measured.score) || measured.judge !== undefined)) parts.push(`classifier ${number(measured.classifier)}`);
  if (measured?.judge !== undefined) parts.push(`judge ${number(measured.judge)}`);
  if (measured?.plain !== undefined) parts.push(`as written ${number(measured.plain)}`);
  row.querySelector(".parts").textContent = parts.join(" · ");
  row.querySelector(".parts").hidden = parts.length === 0;
}

function bar(name) {
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.01, hidden: true, ariaLabel: `Threshold of ${words(name)}` });
  slider.addEventListener("input", () => {
    if (slider.value === String(Number(number(standing[name])))) delete moved[name];
    else moved[name] = Number(slider.value);
    changed();
  });
  // The slider says its number itself.
  const tag = make("output", { ariaHidden: "true" });
  const row = make("li", {},
    name in meanings ? make("button", { type: "button", className: "name" }, words(name)) : make("span", { className: "name" }, words(name)),
    make("span", { className: "value" }),
    make("div", { className: "scale" }, make("div", { className: "track" }, make("div", { className: "fill" })), slider, tag),
    make("span", { className: "parts" }));
  row.dataset.name = name;
  row.style.setProperty("--colour", colour(name));
  return row;
}

// yaml returns the section of toxscreen.yaml with the thresholds that were moved.
function yaml() {
  const names = Object.keys(standing).filter((name) => name in moved);
  return ["thresholds:", ...names.map((name) => `  ${name}: ${moved[name]}`), ""].join("\n");
}

// changed makes the page show again all that depends on the thresholds, the bars included.
function changed() {
  keep("thresholds", moved);
  $("attributes").dispatchEvent(new Event("thresholds"));
}

$("reset").addEventListener("click", () => {
  moved = {};
  changed();
  document.querySelector(".bars input")?.focus(); // the button is disabled now
});
$("copy-yaml").addEventListener("click", () => copy($("copy-yaml"), $("yaml")));

explain($("attributes"), "button.name", (element) => meanings[element.closest("li").dataset.name]);
