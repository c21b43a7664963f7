"use strict";
// The claims of a large report, unpacked from columns (see columns.py), and a row of the table made
// of each when it is shown.
const alphabetical = (texts) => {
  const ranks = new Map([...new Set(texts)].sort().map((text, rank) => [text, rank]));
  return texts.map((text) => ranks.get(text));
};
const ratio = (text) => {
  let above = Number(text), below = 1n;
  while (!Number.isInteger(above)) [above, below] = [above * 2, below * 2n];
  return below === 1n ? String(BigInt(above)) : `${BigInt(above)}/${below}`;
};
const unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const [head, ...records] = (await new Response(stream).text()).split("\x1e");
  const { claims: count, columns } = JSON.parse(head);
  const kept = new Map();
  let at = 0;
  for (const [name, kind] of columns) {
    const own = records.slice(at, at += /^(words|exact)/.test(kind) ? 2 : 1);
    kept.set(name, { kind, own, lines: null });
  }
  const words = ([texts, numbers]) => {
    const known = texts.split("\n");
    let next = 0;
    return numbers.split("\n").map((line) => known[line === "" ? next++ : Number(line)]);
  };
  const tail = (other, line) => {
    if (line === "") return other.slice(0, -1) + (Number(other.at(-1)) + 1);
    const space = line.indexOf(" ");
    return other.slice(0, parseInt(line.slice(0, space), 36)) + line.slice(space + 1);
  };
  const tails = (other, [text]) => text.split("\n").map((line, place) => tail(other[place], line));
  const chain = ([text]) => {
    let before = "";
    return text.split("\n").map((line) => (before = tail(before, line)));
  };
  const exact = (other, own) => words(own).map((line, place) => (line === "=" ? ratio(other[place]) : line));
  const column = (name) => {
    const found = kept.get(name);
    if (!found.lines) {
      const [kind, other] = found.kind.split(":");
      found.lines = kind === "words" ? words(found.own)
        : kind === "chain" ? chain(found.own) : kind === "tails" ? tails(column(other), found.own)
          : kind === "exact" ? exact(column(other), found.own) : found.own[0].split("\n");
      found.own = null;
    }
    return found.lines;
  };
  const value = (name, place) => column(name)[place - 1];

  const order = new Uint32Array(count);
  let last = 0;
  column("worst").forEach((step, index) => { order[last += Number(step)] = index; });
  const made = new Map([["verdict", order], ["place", Uint32Array.from(order, (_, index) => index)]]);
  const rank = (key) => {
    if (!made.has(key)) {
      const text = { claim: "mechanism", accountant: "accountant" }[key];
      made.set(key, text ? alphabetical(column(text)) : Uint32Array.from(column(`rank-${key}`)));
    }
    return made.get(key);
  };
  const [verdicts, grades, accountants] = ["verdict", "grade", "accountant"].map(column);
  const claims = new Array(count);
  order.forEach((at, index) => {
    claims[at] = {
      place: index + 1, verdict: verdicts[index], grade: grades[index],
      accountant: accountants[index], body: null, text: null,
    };
  });
  // what the next page needs is unpacked while nobody waits
  const names = columns.map(([name]) => name);
  const ahead = () => {
    if (!names.length) return;
    column(names.pop());
    setTimeout(ahead);
  };
  setTimeout(ahead, 500);
  return { claims, value, rank };
};

const make = (tag, attributes, ...children) => {
  const made = document.createElement(tag);
  for (const [name, text] of Object.entries(attributes)) made.setAttribute(name, text);
  made.append(...children);
  return made;
};

const searched = ["mechanism", "claimed", "at", "certified", "id", "source", "method", "note", "file"];
const searchedText = (value, { verdict, grade, accountant, place }) =>
  [verdict, grade, accountant, ...searched.map((name) => value(name, place))].join(" ").toLowerCase();

const rowOf = (value, { verdict, grade, accountant, place }) => {
  const of = (name) => value(name, place);
  const wrong = ["unsound", "inaccurate"].includes(verdict);
  const number = (text) => make("span", { class: "number" }, text);
  const wrapped = (text) => make("span", { class: "wrap" }, text);
  const cell = (attributes, ...children) => make("td", { role: "cell", ...attributes }, ...children);
  const relation = { upper: "≤", lower: "≥", estimate: "≈" }[of("kind")];
  const statement = `${of("quantity")} ${relation} ${of("claimed")} at ${of("argument")} = ${of("at")}`;
  const tone = wrong ? (["gross", "visible"].includes(grade) ? "bad" : "mild")
    : verdict === "undecided" ? "open" : "good";
  const sign = wrong ? "✗" : verdict === "undecided" ? "?" : "✓";
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const verb = of("quantity") === "beta" ? "tradeoff" : of("quantity");
  const command = [
    "dpexact", verb, quoted(of("exact") || of("mechanism")),
    `--${of("argument")}`, quoted(of("at-exact") || of("at")),
    ...(of("direction") === "both" ? [] : ["--direction", of("direction")]),
    "--digits", of("digits"),
  ].join(" ");
  const facts = [
    ["Source", wrapped(of("source")), of("source")],
    ["Stands at", wrapped(`${of("file")}, line ${of("line")}`), of("file")],
    [of("claimed-exact") ? "Claimed, exactly" : "Claimed", number(of("claimed-exact") || of("claimed")), true],
    ["Tolerance", [number(of("tolerance")), ", relative"], of("tolerance")],
    ["Contract", wrapped(of("contract")), of("contract")],
    ["Expected", of("expected") + (of("expected") === verdict ? "" : ", which it is not"), of("expected")],
    ["Direction", of("direction"), of("direction") !== "both"],
    ["Certified in", number(`[${of("lower")}, ${of("upper")}]`), true],
    ["Method", `${of("method")}, ${of("seconds")} s`, true],
    ["Note", wrapped(of("note")), of("note")],
    ["Reproduce this", make("code", { class: "command" }, command), true],
  ].filter(([, , present]) => present);
  return make("tbody", {
    role: "rowgroup", class: `claim ${tone}`, id: `claim-${place}`,
    "data-verdict": verdict, "data-grade": grade, "data-place": place, "data-accountant": accountant,
  },
  make("tr", { role: "row" },
    cell({},
      make("span", { class: "badge" }, make("span", { "aria-hidden": "true" }, sign),
        ` ${verdict}${grade === "none" ? "" : `, ${grade}`}`), " ",
      make("span", { class: "place soft wrap" }, `#${place}${of("id") && ` ${of("id")}`}`)),
    make("th", { scope: "row", role: "rowheader", "data-label": "Claim" },
      make("code", { class: "mechanism" }, of("mechanism")), " ",
      make("span", { class: "statement number" }, statement)),
    accountant ? cell({ "data-label": "Accountant" }, wrapped(accountant)) : cell({}),
    cell({ class: "number", "data-label": "Certified truth" }, of("certified")),
    cell({ class: "number", "data-label": "Relative error" }, of("error"))),
  make("tr", { role: "row", class: "detail" }, cell({ colspan: "5" },
    make("details", {}, make("summary", {}, wrong ? "Witness" : "Evidence"),
      make("dl", { class: "facts" },
        ...facts.flatMap(([name, said]) => [make("dt", {}, name), make("dd", {}, ...[said].flat())]))))));
};
