// Keeps what one reads where it is on the screen, while something above it comes or goes.
const TOP = 70;

// At the very top what is new may push the rest down, unless `always`.
export const inPlace = (change, always = false) => {
  const rows = always || window.scrollY > 0 ? [...document.querySelectorAll(".lines > li")] : [];
  const anchors = rows.filter((row) => row.getBoundingClientRect().bottom > TOP).slice(0, 400);
  const before = new Map(anchors.map((row) => [row, row.getBoundingClientRect().top]));
  change();
  const anchor = anchors.find((row) => row.isConnected);
  if (anchor) window.scrollBy({ top: anchor.getBoundingClientRect().top - before.get(anchor), behavior: "instant" });
};
