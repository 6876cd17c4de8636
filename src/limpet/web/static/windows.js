// Lets a long timeline go on as one scrolls: the next window of it is asked for and put below. Also jumps within it.
import { documentAt } from "./asking.js";

const NEAR = "1200px";
let loading = null;

export const appendWindow = async (address) => {
  const timeline = document.querySelector("#timeline");
  const page = await documentAt(address);
  for (const item of page.querySelectorAll("#timeline > li")) {
    const known = item.id ? document.getElementById(item.id) : document.querySelector(`[data-key="${item.dataset.key}"]`);
    if (!known) timeline.append(document.adoptNode(item));
    else if (item.id && known.dataset.tone !== item.dataset.tone && !known.querySelector("[open]")) known.replaceWith(document.adoptNode(item));
  }
  timeline.dataset.last = page.querySelector("#timeline").dataset.last;
  return page;
};

const next = async (link) => {
  const page = await appendWindow(link.href);
  for (const name of ["[rel=next].more", "[data-failed=after]"]) {
    const [old, fresh] = [document.querySelector(name), page.querySelector(name)];
    if (old && fresh) old.replaceWith(document.adoptNode(fresh));
    else old?.remove();
  }
  const later = document.querySelector("[rel=next].more");
  if (later) watch(later);
  else document.querySelector("#timeline").dataset.live = "more";
};

const watch = (link) => {
  new IntersectionObserver(
    (seen, observer) => {
      if (!seen.some((one) => one.isIntersecting) || loading) return;
      observer.disconnect();
      loading = next(link).catch(() => {}).finally(() => (loading = null));
    },
    { rootMargin: NEAR },
  ).observe(link);
};

export const loadMore = () => {
  const link = document.querySelector("[rel=next].more");
  if (link) watch(link);
  document.addEventListener("click", (event) => {
    const from = event.target.closest?.("[data-from]")?.dataset.from;
    if (from) location.assign(`?from=${from}#e${from}`);
    const jump = event.target.closest?.("[data-jump]")?.dataset.jump;
    if (!jump) return;
    event.preventDefault();
    const there = document.getElementById(`e${jump}`)?.querySelector(".row");
    if (!there) location.assign(`?from=${jump}#e${jump}`);
    there?.focus();
    there?.scrollIntoView({ block: "center" });
  });
};
