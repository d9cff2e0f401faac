// The tip: a sentence about what the pointer is on or what has the focus. Escape hides
// it, and the pointer can move onto it.

import { $ } from "./dom.js";

const grace = 300; // milliseconds for the pointer to get from an element to its tip

let tipped, leaving;

function showTip(element, sentence) {
  clearTimeout(leaving);
  if (tipped === element) return;
  hideTip();
  tipped = element;
  const tip = $("tip");
  tip.textContent = sentence;
  tip.hidden = false;
  element.setAttribute("aria-describedby", "tip");
  placeTip();
}

// placeTip puts the tip below its element, inside the page.
function placeTip() {
  const part = tipped?.getClientRects()[0];
  if (!part) {
    hideTip();
    return;
  }
  const tip = $("tip");
  tip.style.left = `${scrollX + Math.max(8, Math.min(part.left, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${scrollY + part.bottom + 2}px`;
}

export function hideTip() {
  clearTimeout(leaving);
  tipped?.removeAttribute("aria-describedby");
  tipped = undefined;
  $("tip").hidden = true;
}

// A finger leaves at once: what it touched keeps its tip until the next touch.
function leaveTip({ pointerType }) {
  clearTimeout(leaving);
  if (pointerType === "touch") return;
  leaving = setTimeout(() => {
    if (tipped !== document.activeElement) hideTip();
  }, grace);
}

// explain gives the elements in a container that match a selector the tip that
// sentenceOf returns for each.
export function explain(container, selector, sentenceOf) {
  container.addEventListener("pointerover", ({ target }) => {
    const element = target.closest(selector);
    if (element) showTip(element, sentenceOf(element));
  });
  container.addEventListener("pointerout", leaveTip);
  container.addEventListener("focusin", ({ target }) => {
    if (target.matches(selector)) showTip(target, sentenceOf(target));
  });
  container.addEventListener("focusout", hideTip);
  container.addEventListener("scroll", hideTip);
}

$("tip").addEventListener("pointerenter", () => clearTimeout(leaving));
$("tip").addEventListener("pointerleave", leaveTip);
addEventListener("resize", placeTip);
document.addEventListener("pointerdown", ({ target }) => {
  if (tipped && !tipped.contains(target) && !$("tip").contains(target)) hideTip();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
