// What all parts of the page use. Everything that users or the server wrote is
// inserted as text, never as markup, which the page's policy forbids.

export const $ = (id) => document.getElementById(id);

// make returns an element with properties and children, which may be strings.
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export const words = (name) => name.replaceAll("_", " ");
export const number = (p) => p.toFixed(2);
export const colour = (attribute) => `var(--${attribute}, var(--accent))`;

// separated puts commas between elements.
export const separated = (elements) => elements.flatMap((element, i) => (i ? [", ", element] : [element]));

// announce makes screen readers say a sentence when they are idle; of several in
// quick succession, only the last.
let announcing;
export function announce(sentence) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    $("announcement").textContent = sentence;
  }, 500);
}

// copy copies a text that an element shows, and says so on the button. Only pages
// from localhost or over TLS may write to the clipboard: on other pages the text is
// selected for copying by hand.
export async function copy(button, element) {
  const label = button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(element.textContent);
    announce("Copied.");
    button.textContent = "Copied";
  } catch {
    element.hidden = false;
    getSelection().selectAllChildren(element);
    element.focus();
    announce("Selected. Copy it with the keyboard.");
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
}
