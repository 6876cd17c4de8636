// New events within a second, without losing one's place: the stream says that there is something new, and the page asks
// for what it shows of it. A page that nobody looks at has no stream: browsers allow a host only six connections.
import { documentAt } from "./asking.js";
import { inPlace } from "./place.js";
import { follow } from "./windows.js";

const MOST = 500;
const PAUSE_MS = 1000;
const place = document.querySelector("[data-live], #timeline");
let stream = null;
let head = Number(place?.dataset.head ?? -1);
let busy = false;
let again = 0;
let unseen = 0;

const LISTENING = "Listening: new events appear by themselves.";
const LOST = "The connection is lost; trying again. If that lasts: limpet open";
const ENDED = "The connection is lost: what is new is not shown here. limpet open gives a new link.";

// Where a page has no place for it, only what is wrong is said, above everything else.
const say = (text) => {
  let status = document.querySelector("#stream");
  if (!status && text !== LISTENING) {
    status = document.createElement("p");
    status.id = "stream";
    status.className = "lost";
    status.setAttribute("role", "status");
    document.body.append(status);
  }
  if (status?.className === "lost" && text === LISTENING) status.remove();
  else if (status) status.textContent = text;
};

const pill = () => {
  let button = document.querySelector(".pill");
  if (window.scrollY < 80 || !unseen) {
    button?.remove();
    unseen = 0;
    return;
  }
  if (!button) {
    button = document.createElement("button");
    button.className = "pill";
    button.addEventListener("click", () => window.scrollTo({ top: 0 }));
    document.body.append(button);
  }
  button.textContent = `${unseen} new ↑`;
};

const rows = async () => {
  const page = await documentAt(`/live/rows?after=${Math.max(head, 0)}`);
  const news = page.querySelector("#news");
  const found = [...news.children];
  head = Number(news.dataset.head);
  inPlace(() => {
    for (const row of found.reverse()) {
      const known = row.id ? document.getElementById(row.id) : null;
      const focused = known?.contains(document.activeElement);
      const fresh = document.adoptNode(row);
      if (known) known.replaceWith(fresh);
      else place.prepend(fresh);
      if (!known && row.id) (unseen += 1), fresh.classList.add("new");
      if (focused) fresh.querySelector(".row").focus({ preventScroll: true });
    }
    while (place.children.length > MOST) place.lastElementChild.remove();
  });
  document.querySelector("#none")?.remove();
  pill();
};

// Puts a newer version of the page's parts in place of those in which nobody is busy.
const refresh = async () => {
  const page = await documentAt(location.href);
  const [old, fresh] = [document.getElementById(place.id), page.getElementById(place.id)];
  inPlace(() => {
    [...old.children].forEach((part, number) => {
      const other = fresh.children[number];
      if (!other || part.contains(document.activeElement) || part.querySelector("details[open]") || part.isEqualNode(other)) return;
      part.replaceWith(document.adoptNode(other.cloneNode(true)));
    });
    for (const part of [...fresh.children].slice(old.children.length)) old.append(document.adoptNode(part));
  });
};

const kinds = { rows, more: follow, again: refresh };

const bring = async () => {
  if (!kinds[place.dataset.live]) return; // a timeline of which the end is not shown
  if (busy) return void (again = 1);
  busy = true;
  try {
    await kinds[place.dataset.live]();
    say(LISTENING);
  } catch {
    say("Cannot be reached just now.");
  }
  const pause = place.dataset.live === "again" ? PAUSE_MS : 0;
  setTimeout(() => {
    busy = false;
    if (again) (again = 0), bring();
  }, pause);
};

const open = () => {
  if (stream || document.hidden) return;
  stream = new EventSource("/live/stream");
  stream.onopen = () => say(LISTENING);
  stream.onerror = () => {
    const ended = stream.readyState === EventSource.CLOSED; // it answered, but let nobody in
    say(ended ? ENDED : LOST);
    if (ended) close();
  };
  stream.onmessage = (event) => {
    const number = Number(event.data);
    const known = head;
    if (place.dataset.live !== "rows") head = number;
    if (number !== known && (known >= 0 || place.dataset.live === "rows")) bring();
  };
};

const close = () => {
  stream?.close();
  stream = null;
};

export const goLive = () => {
  if (!place) return;
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("scroll", pill, { passive: true });
  open();
};
