// What the user thinks of the scores, for the server's feedback.

import { $, announce, make, number, words } from "./dom.js";

let shown = ""; // the text of the form
let send; // sends labels, see showFeedback
let sending = new AbortController();

// visit is the name that the server knows the labels of a text by, so that a later answer
// during the same visit corrects an earlier one. It is not stored.
export const visit = `page-${[...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("")}`;

// showFeedback offers feedback on the result of a text. sendLabels(labels, signal, say)
// sends it, tells by say what it waits for, and returns a problem, or "" when the server has
// stored the labels; it is null if the server stores none.
export function showFeedback(text, result, sendLabels) {
  send = sendLabels;
  $("feedback-part").hidden = !result || !send;
  const names = Object.keys(result?.attributes ?? {});
  if (text !== shown || $("opinions").dataset.names !== names.join()) {
    shown = text;
    open(false);
    say("");
    $("opinions").dataset.names = names.join();
    $("opinions").replaceChildren(...names.map(opinion));
  }
  for (const row of $("opinions").children) row.querySelector(".value").textContent = number(result.attributes[row.dataset.name].score);
}

function say(sentence) {
  $("feedback-said").textContent = sentence;
  $("feedback-said").hidden = !sentence;
  if (sentence) announce(sentence);
}

// open shows the form, with problems in it, or hides it.
function open(wish) {
  sending.abort();
  $("send-feedback").disabled = false;
  $("feedback-section").hidden = !wish;
  $("wrong").setAttribute("aria-expanded", wish);
  $(wish ? "feedback" : "feedback-part").append($("feedback-said"));
}

// opinion returns the row of an attribute: its score may be too high or too low.
function opinion(name) {
  const choices = [["too high", 0], ["too low", 1]].map(([said, label]) => {
    const choice = make("button", { type: "button", ariaPressed: "false", ariaLabel: `${words(name)} is ${said}`, value: label }, said);
    choice.addEventListener("click", () => {
      const chosen = choice.ariaPressed !== "true";
      for (const other of choices) other.ariaPressed = String(chosen && other === choice);
      say("");
    });
    return choice;
  });
  const row = make("li", {}, make("span", {}, words(name)), make("span", { className: "value" }), ...choices);
  row.dataset.name = name;
  return row;
}

// opinions returns the labels that the user chose.
const opinions = () => Object.fromEntries([...$("opinions").querySelectorAll("[aria-pressed=true]")].map((choice) => [choice.closest("li").dataset.name, Number(choice.value)]));

$("wrong").addEventListener("click", () => {
  say("");
  open($("feedback-section").hidden);
  if (!$("feedback-section").hidden) $("opinions").querySelector("button").focus();
});
$("cancel-feedback").addEventListener("click", () => {
  open(false);
  say("");
  $("wrong").focus();
});
$("feedback").addEventListener("submit", async (event) => {
  event.preventDefault();
  const labels = opinions();
  if (Object.keys(labels).length === 0) {
    say("Choose “too high” or “too low” beside at least one attribute.");
    return;
  }
  sending = new AbortController();
  const { signal } = sending;
  $("send-feedback").disabled = true;
  const problem = await send(labels, signal, say);
  if (signal.aborted) return;
  $("send-feedback").disabled = false;
  if (problem) {
    say(problem);
    $("send-feedback").focus();
    return;
  }
  open(false);
  say("Thank you. The server has stored it. Another answer for an attribute replaces this one.");
  $("wrong").focus();
});
