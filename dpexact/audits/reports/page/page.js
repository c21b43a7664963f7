"use strict";
// Order, filters and pages of the table of claims; without this script the page shows them all, or
// of a large report the worst.
document.documentElement.classList.add("scripted");
document.addEventListener("DOMContentLoaded", async () => {
  const controls = document.getElementById("controls");
  const fields = controls.elements;
  const table = document.getElementById("claims");
  const shown = document.getElementById("shown");
  const pages = document.getElementById("pages");
  const [back, forth] = pages.querySelectorAll("button");
  const where = pages.querySelector("span");
  const size = Number(table.dataset.page);
  const present = Array.from(table.querySelectorAll("tbody.claim"), (body, index) => {
    const { verdict, grade, place, accountant, ranks } = body.dataset;
    const [claim, by, truth, error] = ranks.split(" ").map(Number);
    const rank = { verdict: index, place: Number(place), claim, accountant: by, truth, error };
    return { body, verdict, grade, accountant, rank, place: rank.place };
  });
  // of a large report the rows are made when they are shown; the worst are there
  const columns = document.getElementById("columns");
  const packed = columns && await unpack(columns.textContent);
  const claims = packed ? packed.claims : present;
  if (packed) {
    columns.remove();
    present.forEach(({ body }, index) => { claims[index].body = body; });
    document.getElementById("rest").hidden = true;
  }
  const bodyOf = (claim) => claim.body ?? rowOf(packed.value, claim);
  const textOf = (claim) => claim.text ??= packed
    ? searchedText(packed.value, claim) : claim.body.textContent.toLowerCase();
  const boxes = ["verdict", "grade"].map((name) => ({
    name, all: Array.from(controls.querySelectorAll(`[name=${name}]`)),
  }));
  const headings = Array.from(table.querySelectorAll("thead button"));
  const initial = { order: "verdict", reverse: false };
  let listed = claims;
  let page = 0;
  let sorted = "verdict1";

  const downwards = () => fields.reverse.checked !== (fields.order.value === "error");
  const sort = () => {
    const key = fields.order.value;
    const sign = downwards() ? -1 : 1;
    if (sorted !== key + sign) {
      const ranks = packed?.rank(key);
      const rankOf = ranks ? (claim) => ranks[claim.place - 1] : (claim) => claim.rank[key];
      claims.sort((a, b) => sign * (rankOf(a) - rankOf(b)) || a.place - b.place);
      if (!packed) {
        const all = document.createDocumentFragment();
        for (const { body } of claims) all.append(body);
        table.append(all);
      }
      sorted = key + sign;
    }
    for (const button of headings) {
      const state = button.value === key ? (sign < 0 ? "descending" : "ascending") : "none";
      button.closest("th").setAttribute("aria-sort", state);
    }
  };
  const filter = () => {
    const off = boxes.map(({ name, all }) => ({
      name, values: new Set(all.filter((box) => !box.checked).map((box) => box.value)),
    }));
    const accountant = fields.accountant.value;
    const text = fields.text.value.toLowerCase();
    listed = claims.filter((claim) => !off.some(({ name, values }) => values.has(claim[name]))
      && (!accountant || claim.accountant === accountant)
      && (!text || textOf(claim).includes(text)));
    if (!packed) {
      const found = new Set(listed);
      for (const claim of claims) claim.body.hidden = !found.has(claim);
    }
    shown.textContent = `${listed.length} of ${claims.length} shown`;
  };
  const fill = (some) => table.replaceChildren(...table.querySelectorAll("caption, thead"),
    ...some.map(bodyOf));
  const turn = (to) => {
    const last = Math.max(Math.ceil(listed.length / size) - 1, 0);
    page = Math.min(Math.max(to, 0), last);
    if (packed) fill(listed.slice(page * size, (page + 1) * size));
    else {
      listed.forEach(({ body }, index) => {
        body.classList.toggle("later", Math.floor(index / size) !== page);
      });
    }
    pages.hidden = last === 0;
    back.disabled = page === 0;
    forth.disabled = page === last;
    where.textContent = `Page ${page + 1} of ${last + 1}`;
  };
  const keep = () => {
    const state = new URLSearchParams();
    for (const { name, all } of boxes) {
      const on = all.filter((box) => box.checked);
      if (on.length < all.length) state.set(name, on.map((box) => box.value));
    }
    for (const name of ["accountant", "text"]) if (fields[name].value) state.set(name, fields[name].value);
    if (fields.order.value !== initial.order) state.set("order", fields.order.value);
    if (fields.reverse.checked) state.set("reverse", "1");
    if (page) state.set("page", page + 1);
    try {
      history.replaceState(null, "", `#${state}`);
    } catch { /* an address that cannot carry the state, as of a page inside another */ }
  };
  const update = (to) => { sort(); filter(); turn(to); };
  const choose = (select, value, otherwise) => {
    select.value = value ?? otherwise;
    if (select.selectedIndex < 0) select.value = otherwise;
  };
  const restore = () => {
    const hash = location.hash.slice(1);
    const one = /^claim-\d+$/.test(hash);
    const state = new URLSearchParams(one ? "" : hash);
    for (const { name, all } of boxes) {
      const wanted = state.get(name);
      for (const box of all) box.checked = wanted === null || wanted.split(",").includes(box.value);
    }
    choose(fields.accountant, state.get("accountant"), "");
    choose(fields.order, state.get("order"), initial.order);
    fields.reverse.checked = state.get("reverse") === "1";
    fields.text.value = state.get("text") ?? "";
    update((Number(state.get("page")) || 1) - 1);
    const place = one && Number(hash.slice("claim-".length));
    const index = one ? listed.findIndex((claim) => claim.place === place) : -1;
    if (index >= 0) {
      turn(Math.floor(index / size));
      const body = document.getElementById(hash);
      body.querySelector("details").open = true;
      body.scrollIntoView();
    }
  };

  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", () => { update(0); keep(); });
  for (const button of headings) {
    button.addEventListener("click", () => {
      fields.reverse.checked = fields.order.value === button.value && !fields.reverse.checked;
      fields.order.value = button.value;
      update(0);
      keep();
    });
  }
  const step = (by) => { turn(page + by); keep(); table.scrollIntoView(); };
  back.addEventListener("click", () => step(-1));
  forth.addEventListener("click", () => step(1));
  window.addEventListener("hashchange", restore);
  if (packed) {
    const most = Number(table.dataset.printed);
    window.addEventListener("beforeprint", () => {
      fill(listed.slice(0, most));
      const left = listed.length - most;
      if (left > 0) table.after(make("p", { id: "unprinted" }, `${left} more claims are not printed; filter for them.`));
    });
    window.addEventListener("afterprint", () => {
      document.getElementById("unprinted")?.remove();
      turn(page);
    });
  }
  controls.hidden = false;
  restore();
  table.dataset.ready = "";
});
