// Suggestions under the question as one types (a combobox after the ARIA Authoring Practices, with a list).
const WAIT_MS = 120;

export const suggest = (field) => {
  const list = document.getElementById(field.getAttribute("aria-controls"));
  let timer = 0;
  let asked = 0;

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };

  const take = (item) => {
    field.value = item.dataset.q;
    close();
    if (!field.value.endsWith(":")) field.form.requestSubmit();
  };

  const show = (found) => {
    list.replaceChildren(
      ...found.map(({ q, part }, number) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${number}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.dataset.q = q;
        item.textContent = part;
        item.addEventListener("mousedown", (event) => (event.preventDefault(), take(item)));
        return item;
      }),
    );
    list.hidden = found.length === 0;
    field.setAttribute("aria-expanded", String(found.length > 0));
  };

  const ask = async () => {
    const mine = ++asked;
    try {
      const answer = await fetch(`/suggest?q=${encodeURIComponent(field.value)}`);
      if (mine === asked && answer.ok && document.activeElement === field) show(await answer.json());
    } catch {
      close();
    }
  };

  const move = (by) => {
    const items = [...list.children];
    const now = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
    items[now]?.setAttribute("aria-selected", "false");
    const item = now < 0 ? items.at(by > 0 ? 0 : -1) : items[(now + by + items.length) % items.length];
    item.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", item.id);
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) event.preventDefault(), close();
    if (event.key === "Escape") asked++;
    if (list.hidden || !list.children.length) return;
    const chosen = list.querySelector('[aria-selected="true"]');
    if (event.key === "ArrowDown") event.preventDefault(), move(1);
    if (event.key === "ArrowUp") event.preventDefault(), move(-1);
    if (event.key === "Enter" && chosen) event.preventDefault(), take(chosen);
  });
  field.addEventListener("blur", () => (asked++, close()));
};
