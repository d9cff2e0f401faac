// The personal data of a result: marked in its text, masked in it, and listed.

import { $, copy, make, number, words } from "./dom.js";
import { inUTF16 } from "./text.js";

const mostEntities = 50; // that are listed

let latest = ["", null]; // the text and the result that are shown

// showPersonal shows the personal data of a result, if it has any.
export function showPersonal(text, result) {
  latest = [text, result];
  const found = result?.entities;
  $("personal-section").hidden = !found?.length;
  if (!found?.length) return;
  const at = inUTF16(text, result.offset_unit);
  const entities = found.map((entity) => ({ ...entity, start: at(entity.start), end: at(entity.end) }));
  showEntities(text, entities);
  listEntities(text, entities);
}

// showEntities shows the text with its entities marked, or masked.
function showEntities(text, entities) {
  const masked = $("mask").checked;
  $("copy-masked").disabled = !masked;
  const parts = [];
  let from = 0;
  for (const { type, start, end } of entities) {
    const part = make("span", { className: "entity" }, masked ? `<${type}>` : text.slice(start, end));
    if (!masked) part.dataset.type = words(type);
    parts.push(text.slice(from, start), part);
    from = end;
  }
  $("personal").replaceChildren(...parts, text.slice(from));
}

function listEntities(text, entities) {
  const items = entities.slice(0, mostEntities).map(({ type, start, end, score, why }) => make("li", {},
    make("span", { className: "value" }, number(score)),
    make("span", { className: "type" }, words(type)),
    make("bdi", {}, text.slice(start, end)),
    make("span", { className: "hint" }, why.join(", "))));
  const more = entities.length - mostEntities;
  if (more > 0) items.push(make("li", { className: "hint" }, `and ${more} more`));
  $("entities").replaceChildren(...items);
}

$("mask").addEventListener("change", () => showPersonal(...latest));
$("copy-masked").addEventListener("click", () => copy($("copy-masked"), $("personal")));
