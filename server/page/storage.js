// What this browser stores between visits: nothing, until the user asks for it. Where
// storage is disabled or full, the page works without it.

const prefix = "toxscreen.";

function stored(name) {
  try {
    return JSON.parse(localStorage.getItem(prefix + name));
  } catch {
    return null;
  }
}

// store reports whether the browser stored a value.
function store(name, value) {
  try {
    localStorage.setItem(prefix + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

function remove(...but) {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(prefix) && !but.includes(name)) localStorage.removeItem(name);
    }
  } catch {
    // Then nothing is stored.
  }
}

const consent = "kept on request"; // its name

// keeps tells whether the user asked to keep texts and thresholds.
export const keeps = () => stored(consent) === true;

// setKeeps follows the user's wish, and removes everything if it is to keep nothing. It
// returns false if the browser cannot store anything.
export function setKeeps(wish) {
  if (wish) return store(consent, true);
  remove();
  return true;
}

export const kept = (name, otherwise) => (keeps() ? stored(name) : null) ?? otherwise;

// keep stores a value if the user asked for it. It returns false if there is no room.
export const keep = (name, value) => !keeps() || store(name, value);

// forget removes all that is kept; what comes later is kept again.
export const forget = () => remove(prefix + consent);

// Earlier versions of the page stored texts without being asked.
if (!keeps()) remove();
