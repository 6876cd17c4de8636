// A long timeline, a few windows of it at a time: the next one comes as one nears an end, and the farthest one goes, so that
// twenty thousand events weigh as much as a few hundred. Also jumps to an event, wherever it stands.
import { documentAt } from "./asking.js";
import { inPlace } from "./place.js";

const NEAR = "2000px";
const MOST = 6;
const FULL = 80;
const LINKS = ["a.more[rel=prev]", "a.more[rel=next]", "[data-failed=before]", "[data-failed=after]"];
const timeline = document.querySelector("#timeline");
const shown = [];
const loading = { prev: null, next: null };

const itemsOf = (page) => {
  page.querySelector(".wanted")?.classList.remove("wanted"); // where that window begins is not what the reader looks for
  return [...(page.querySelector("#timeline")?.children ?? [])];
};
const links = (page) => Object.fromEntries(LINKS.map((name) => [name, page.querySelector(name)?.cloneNode(true)]));
const isKnown = (item) => item.id && document.getElementById(item.id);

// Puts the links of the first and the last window that are shown where the page has them.
const relink = () => {
  const [first, last] = [shown[0], shown.at(-1)];
  for (const [name, from] of [[LINKS[0], first], [LINKS[1], last], [LINKS[2], first], [LINKS[3], last]]) {
    const slot = document.querySelector(`[data-slot="${CSS.escape(name)}"]`);
    slot.replaceChildren(...(from.links[name] ? [from.links[name]] : []));
  }
  if (last.links[LINKS[1]]) delete timeline.dataset.live;
  else timeline.dataset.live = "more";
  timeline.dataset.last = [...timeline.children].findLast((item) => item.id).id.slice(1);
  for (const link of document.querySelectorAll("a.more[rel]")) watch(link);
  goesOn();
};

// What stands below a timeline that goes on is not shown: it would be pushed away before the reader's eyes.
const goesOn = () => document.body.classList.toggle("goes-on", Boolean(document.querySelector(LINKS[1])));

const drop = (one) => one.items.forEach((item) => item.remove());

const after = (page) => {
  const found = itemsOf(page);
  const known = found.findLastIndex(isKnown);
  for (const item of found.slice(0, known + 1)) {
    const old = isKnown(item);
    if (old && old.dataset.tone !== item.dataset.tone && !old.querySelector("[open]")) replace(old, document.adoptNode(item));
  }
  const fresh = found.slice(known + 1).map((item) => document.adoptNode(item));
  const last = shown.at(-1);
  if (fresh.length && last.items.length >= FULL) shown.push({ items: fresh, links: links(page) });
  else (last.items.push(...fresh), (last.links = links(page)));
  inPlace(() => {
    timeline.append(...fresh);
    while (shown.length > MOST) drop(shown.shift());
  });
  relink();
};

const replace = (old, fresh) => {
  for (const one of shown) one.items = one.items.map((item) => (item === old ? fresh : item));
  old.replaceWith(fresh);
};

const before = (page) => {
  const found = itemsOf(page);
  const known = found.findIndex(isKnown);
  const fresh = found.slice(0, known < 0 ? found.length : known).map((item) => document.adoptNode(item));
  inPlace(() => {
    // Which day it is stood above the first event shown; now the events before it say so.
    const [first] = shown;
    while (known >= 0 && first.items.length && !first.items[0].id) first.items.shift().remove();
    timeline.prepend(...fresh);
    shown.unshift({ items: fresh, links: links(page) });
    while (shown.length > MOST) drop(shown.pop());
  }, true);
  relink();
};

const strip = (page) => {
  const fresh = page.querySelector(".whole");
  if (fresh) document.querySelector(".whole").replaceWith(document.adoptNode(fresh));
};

// Brings the window that lies behind an end; gives true where there was one.
export const bring = (end) => {
  const link = document.querySelector(`a.more[rel=${end}]`);
  if (!link || !timeline) return Promise.resolve(false);
  loading[end] ??= (loading.prev ?? loading.next ?? Promise.resolve())
    .then(() => documentAt(link.href))
    .then((page) => ((end === "next" ? after : before)(page), strip(page), true))
    .catch(() => false)
    .finally(() => (loading[end] = null));
  return loading[end];
};

// Brings what a session that goes on has got since.
export const follow = async () => after(await documentAt(`?from=${timeline.dataset.last}`));

const watcher = new IntersectionObserver((seen) => seen.forEach((one) => one.isIntersecting && bring(one.target.rel)), { rootMargin: NEAR });
const watch = (link) => watcher.observe(link);

const jump = (event) => {
  const from = event.target.closest?.("[data-from]")?.dataset.from;
  if (from) location.assign(`?from=${from}#e${from}`);
  const wanted = event.target.closest?.("[data-jump]")?.dataset.jump;
  if (!wanted) return;
  const there = document.getElementById(`e${wanted}`)?.querySelector(".row");
  if (!there) return; // the link itself leads to the window in which it stands
  event.preventDefault();
  there.focus({ preventScroll: true });
  there.scrollIntoView({ block: "center" });
};

export const loadMore = () => {
  if (!timeline) return;
  shown.push({ items: [...timeline.children], links: links(document) });
  for (const link of document.querySelectorAll("a.more[rel]")) watch(link);
  goesOn();
  document.addEventListener("click", jump);
};
