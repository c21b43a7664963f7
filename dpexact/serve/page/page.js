"use strict";
// Asks as one types, and shows what comes; all HTML is the server's, which makes foreign text inert.
const form = document.getElementById("form");
const results = document.getElementById("results");
const [answer, more, spoken, short, waiting, taken, accountants, ask] = [
  "answer", "more", "spoken", "short", "waiting", "taken", "accountants", "ask",
].map((id) => document.getElementById(id));
const PAUSE = 300;
let asking = new AbortController();
let hearing = new AbortController();
let timer = 0;

const chosen = (name) => form.querySelector(`[name="${name}"]:checked`)?.value;
const holds = (when) => !when || when.split("|").some((every) =>
  every.trim().split(/\s+/).every((choice) => {
    const [name, value] = choice.split("=");
    return chosen(name) === value;
  }));
const arrange = () => {
  for (const group of form.querySelectorAll("fieldset[data-when]")) {
    group.hidden = group.disabled = !holds(group.dataset.when);
  }
};
const query = () => new URLSearchParams(new FormData(form)).toString();

async function* records(path, signal) {
  const response = await fetch(`${path}?${query()}`, { signal });
  if (!response.ok) throw new Error(await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

const complain = (record) => {
  answer.innerHTML = record.html;
  more.hidden = true;
  short.textContent = "↓ see below";
  const field = record.field && form.elements[record.field];
  if (field) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", "problem");
  }
};
const gone = (error) => {
  const said = document.createElement("p");
  said.className = "problem";
  said.textContent = `No answer: ${error.message.trim()}. Does dpexact serve still run?`;
  answer.replaceChildren(said);
  more.hidden = true;
  short.textContent = "↓ see below";
};
const settle = () => {
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
  }
};

async function update() {
  asking.abort();
  hearing.abort();
  const { signal } = asking = new AbortController();
  history.replaceState(null, "", `?${query()}`);
  waiting.hidden = false;
  try {
    for await (const record of records("answer", signal)) {
      if (record.part === "answer") {
        settle();
        for (const id of ["curve", "profile", "accountants"]) document.getElementById(id).replaceChildren();
        taken.textContent = "";
        ask.disabled = false;
        for (const part of [answer, more]) part.classList.remove("stale");
        if (record.error) complain(record);
        else {
          answer.innerHTML = record.html;
          more.hidden = false;
          spoken.textContent = record.spoken;
          short.textContent = record.short;
        }
      } else {
        document.getElementById(record.part).innerHTML = record.html;
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    for (const part of [answer, more]) part.classList.remove("stale");
    gone(error);
  }
  if (signal.aborted) return;
  waiting.hidden = true;
  results.setAttribute("aria-busy", "false");
}

const changed = (pause) => {
  arrange();
  asking.abort();
  hearing.abort();
  results.setAttribute("aria-busy", "true");
  for (const part of [answer, more]) part.classList.add("stale"); // no longer about what is typed
  short.textContent = "…";
  clearTimeout(timer);
  timer = setTimeout(update, pause);
};

ask.addEventListener("click", async () => {
  hearing.abort();
  const { signal } = hearing = new AbortController();
  ask.disabled = true;
  try {
    for await (const record of records("accountants", signal)) accountants.innerHTML = record.html;
  } catch (error) {
    if (!signal.aborted) accountants.textContent = error.message;
  }
  if (hearing.signal === signal) ask.disabled = false;
});

const copy = async (button, text) => {
  try {
    await navigator.clipboard.writeText(text);
    taken.textContent = button.dataset.done;
  } catch {
    taken.textContent = text; // no leave to copy: to be marked by hand
  }
};
document.getElementById("copy-link").addEventListener("click", (event) =>
  copy(event.currentTarget, location.href));
document.getElementById("copy-command").addEventListener("click", (event) =>
  copy(event.currentTarget, document.getElementById("command").textContent));
document.getElementById("prove").addEventListener("click", async ({ currentTarget: button }) => {
  button.disabled = true;
  taken.textContent = "Making the certificate …";
  try {
    const response = await fetch(`certificate?${query()}`, { signal: asking.signal });
    if (response.ok) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = "certificate.json";
      link.click();
      URL.revokeObjectURL(link.href);
      taken.textContent = "Saved as certificate.json; check it with: dpexact verify certificate.json";
    } else taken.textContent = await response.text();
  } catch (error) {
    if (error.name !== "AbortError") taken.textContent = error.message;
  }
  button.disabled = false;
});

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => changed(PAUSE));
arrange();
if (!answer.querySelector(".problem")) changed(0);
