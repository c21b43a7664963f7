"use strict";
(() => {
  const controls = document.getElementById("controls");
  const table = document.getElementById("claims");
  const shown = document.getElementById("shown");
  const claims = Array.from(table.querySelectorAll("tbody.claim"), (body) => ({
    body,
    gap: body.nextElementSibling,
    verdict: body.dataset.verdict,
    place: Number(body.dataset.place),
    error: Number(body.dataset.error),
    text: body.textContent.toLowerCase(),
  }));
  const worst = claims.map((claim) => claim.place);
  const orders = {
    worst: (a, b) => worst.indexOf(a.place) - worst.indexOf(b.place),
    given: (a, b) => a.place - b.place,
    error: (a, b) => b.error - a.error || a.place - b.place,
  };
  const filter = () => {
    const data = new FormData(controls);
    const verdicts = new Set(data.getAll("verdict"));
    const wanted = data.get("text").toLowerCase();
    let count = 0;
    for (const { body, gap, verdict, text } of claims) {
      const hidden = !verdicts.has(verdict) || !text.includes(wanted);
      body.hidden = gap.hidden = hidden;
      body.style.display = gap.style.display = hidden ? "none" : "";
      count += hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${claims.length} shown`;
  };
  const sort = () => {
    const order = new FormData(controls).get("order");
    for (const { body, gap } of [...claims].sort(orders[order])) table.append(body, gap);
  };
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", filter);
  controls.elements.order.addEventListener("change", sort);
  controls.hidden = false;
  sort();
  filter();
})();
