// Keeps a page's figures fresh: fetches the same page every few seconds and
// changes in place what differs, so that a selection, the focus, an open table
// and the place scrolled to stay. It pauses while the tab is hidden or text is
// selected, and says whether it is live. It needs no package.

const every = 4000;

type Mode = "live" | "paused" | "away";

const words: Record<Mode, string> = { live: "Live", paused: "Paused", away: "No answer, trying again" };

let stopped = false; // by the reader
let busy = false;

/** The key of a row, by which it is found again wherever it has moved. */
function keyOf(node: Node): string | null {
  return node instanceof Element ? node.getAttribute("data-key") : null;
}

/** Attributes that the reader or another script owns. */
const theirs: Record<string, string[]> = { DETAILS: ["open"], DIV: ["hidden"] };

function patchAttributes(from: Element, to: Element): void {
  const keep = theirs[from.tagName] ?? [];
  for (const { name } of Array.from(from.attributes)) {
    if (!to.hasAttribute(name) && !keep.includes(name)) from.removeAttribute(name);
  }
  for (const { name, value } of Array.from(to.attributes)) {
    if (from.getAttribute(name) !== value && !keep.includes(name)) from.setAttribute(name, value);
  }
}

const idOf = (node: Node) => (node instanceof Element ? node.id : "");

/** Whether a node can become the other without being replaced. */
function alike(a: Node, b: Node): boolean {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b) && idOf(a) === idOf(b);
}

/** The node from place on that wanted is to be made of, if any. */
function find(place: ChildNode | null, wanted: Node): ChildNode | null {
  if (place === null || alike(place, wanted)) return place;
  if (!(wanted instanceof Element)) return null;
  for (let node = place.nextSibling; node !== null; node = node.nextSibling) {
    if (node instanceof Element && alike(node, wanted) && node.className === wanted.className) return node;
  }
  return null;
}

/** Makes the children of from those of to, moving and reusing what is alike. */
function patch(from: Element, to: Element): void {
  patchAttributes(from, to);
  if (from.classList.contains("plot") || from.tagName === "FORM") return; // drawn by plots, written by the reader
  const keyed = new Map<string, ChildNode>();
  for (const child of Array.from(from.childNodes)) {
    const key = keyOf(child);
    if (key !== null) keyed.set(key, child);
  }
  let place: ChildNode | null = from.firstChild;
  for (const wanted of Array.from(to.childNodes)) {
    const key = keyOf(wanted);
    const known: ChildNode | null = key === null ? find(place, wanted) : (keyed.get(key) ?? null);
    if (known !== null && alike(known, wanted)) {
      if (known === place) place = place.nextSibling;
      else if (key !== null) from.insertBefore(known, place);
      else {
        // What stood before it is gone from the page.
        while (place !== null && place !== known) {
          const gone: ChildNode = place;
          place = place.nextSibling;
          gone.remove();
        }
        place = known.nextSibling;
      }
      if (known instanceof Element) patch(known, wanted as Element);
      else if (known.nodeValue !== wanted.nodeValue) known.nodeValue = wanted.nodeValue;
      continue;
    }
    from.insertBefore(document.importNode(wanted, true), place);
  }
  while (place !== null) {
    const next: ChildNode | null = place.nextSibling;
    place.remove();
    place = next;
  }
}

function selecting(): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed;
}

const dot = document.createElement("span");
const word = document.createElement("span");
const button = document.createElement("button");

function say(mode: Mode): void {
  if (word.textContent !== words[mode]) word.textContent = words[mode];
  dot.className = mode === "live" ? "dot" : "dot still";
  const action = stopped ? "Resume" : "Pause";
  if (button.textContent !== action) button.textContent = action;
}

async function refresh(): Promise<void> {
  if (stopped || document.hidden || selecting()) {
    say("paused");
    return;
  }
  if (busy) return;
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (stopped || selecting()) {
      say("paused");
      return;
    }
    for (const name of ["main", "footer"]) {
      const [from, to] = [document.querySelector(name), fresh.querySelector(name)];
      if (from !== null && to !== null) patch(from, to);
    }
    say("live");
    document.dispatchEvent(new Event("warmroute:fresh"));
  } catch {
    say("away");
  } finally {
    busy = false;
  }
}

function start(): void {
  const place = document.getElementById("live");
  if (place === null) return;
  dot.setAttribute("aria-hidden", "true");
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  status.append(word);
  button.type = "button";
  button.addEventListener("click", () => {
    stopped = !stopped;
    void refresh();
  });
  place.append(dot, status, button);
  say("live");
  document.addEventListener("visibilitychange", () => void refresh());
  setInterval(() => void refresh(), every);
}

start();
