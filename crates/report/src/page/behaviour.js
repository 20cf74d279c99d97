"use strict";
// Tables sort, filter and fold; colours change. Nothing is stored and nothing is loaded.
(() => {
  const FOLDED_ROWS = 10;
  const root = document.documentElement;

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // Light and dark.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = make("button", { type: "button", className: "theme" });
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light colours" : "Dark colours"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  dark.addEventListener("change", nameTheme);
  nameTheme();
  document.querySelector("header").append(theme);

  // A number of a cell; what has none comes last.
  const numberOf = (text) => {
    const number = parseFloat(text.replace(/,/g, "").replace(/^\D+/, ""));
    return Number.isNaN(number) ? -1 : number * (/[KMGT]iB/.test(text) ? UNITS[text.match(/([KMGT])iB/)[1]] : 1);
  };
  const UNITS = { K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };
  const collator = new Intl.Collator("en", { numeric: true });

  for (const box of document.querySelectorAll(".table")) {
    const body = box.querySelector("tbody");
    const heads = [...box.querySelectorAll("thead th")];
    const given = [...body.rows];
    const status = make("span", {}, "");
    status.setAttribute("role", "status");
    const say = (text) => { status.textContent = text; };

    const sort = (column) => {
      const head = heads[column];
      const isText = head.classList.contains("t");
      const order = isText ? ["ascending", "descending"] : ["descending", "ascending"];
      const next = order[order.indexOf(head.getAttribute("aria-sort")) + 1];
      for (const other of heads) other.removeAttribute("aria-sort");
      let rows = given;
      if (next) {
        head.setAttribute("aria-sort", next);
        const keyed = given.map((row) => {
          const text = row.cells[column].textContent;
          return [isText ? text : numberOf(text), row];
        });
        const compare = isText ? ([a], [b]) => collator.compare(a, b) : ([a], [b]) => a - b;
        const sign = next === "ascending" ? 1 : -1;
        rows = keyed.sort((a, b) => sign * compare(a, b)).map(([, row]) => row);
      }
      body.append(...rows);
      const name = head.textContent;
      say(next ? `Sorted by ${name}, ${next}.` : "In the order of the report.");
    };
    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sort(column));
      head.append(button);
    });

    const tools = make("div", { className: "tools" });
    if (given.length > FOLDED_ROWS) {
      let unfolded = false;
      const filter = make("input", { type: "search", autocomplete: "off", spellcheck: false });
      const more = make("button", { type: "button", className: "more" });
      const texts = given.map((row) => row.textContent.toLowerCase());
      const fold = () => {
        box.classList.toggle("folded", !unfolded && filter.value === "");
        more.hidden = filter.value !== "";
        more.textContent = unfolded ? `Show the first ${FOLDED_ROWS} rows` : `Show all ${given.length} rows`;
        more.setAttribute("aria-expanded", String(unfolded));
      };
      filter.addEventListener("input", () => {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        given.forEach((row, index) => {
          row.hidden = !words.every((word) => texts[index].includes(word));
          shown += row.hidden ? 0 : 1;
        });
        fold();
        say(words.length ? `${shown} of ${given.length} rows` : "");
      });
      more.addEventListener("click", () => {
        unfolded = !unfolded;
        fold();
      });
      fold();
      tools.append(make("label", {}, "Filter", filter));
      box.append(more);
    }
    tools.append(status);
    box.querySelector(".caption").after(tools);

    // A table that scrolls says so.
    const wide = box.querySelector(".wide");
    const hint = make("p", { className: "scrolls" }, "This table scrolls sideways \u2192");
    wide.before(hint);
    new ResizeObserver(() => { hint.hidden = wide.scrollWidth <= wide.clientWidth; }).observe(wide);
  }

  // Paper has no folds.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    opened = [];
  });
})();
