// Claims by verdict, by document and by word; the choice stays in the address.
const table = document.querySelector("table.claims");
const rows = table ? [...table.querySelectorAll("tr[data-verdict]")] : [];

function source(row) { return row.querySelector("th .small").textContent.trim(); }

function choice(name, words, options) {
  const label = Object.assign(document.createElement("label"), { textContent: `${words} ` });
  const select = Object.assign(document.createElement("select"), { name });
  for (const option of ["", ...options]) {
    select.append(new Option(option.replace("_", " ") || "all", option));
  }
  label.append(select);
  return label;
}

if (rows.length > 3) {
  const bar = Object.assign(document.createElement("p"), { className: "controls", id: "filter" });
  const handles = new Set(rows.flatMap((row) => source(row).match(/[a-z]+\d{4}/g) || []));
  const word = Object.assign(document.createElement("label"), { textContent: "words " });
  word.append(Object.assign(document.createElement("input"), { type: "search", name: "words" }));
  const count = Object.assign(document.createElement("span"), { role: "status" });
  bar.append(choice("verdict", "verdict", new Set(rows.map((row) => row.dataset.verdict))),
    choice("source", "document", handles), word, count);
  table.closest(".scroll").before(bar);
  const fields = [...bar.querySelectorAll("select, input")];

  const apply = () => {
    const [verdict, handle, words] = fields.map((field) => field.value);
    let shown = 0;
    for (const row of rows) {
      const fits = (!verdict || row.dataset.verdict === verdict) && (!handle || source(row).includes(handle))
        && (!words || row.textContent.toLowerCase().includes(words.toLowerCase()));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} claims`;
  };
  const given = new URLSearchParams(location.search);
  for (const field of fields) field.value = given.get(field.name) || "";
  for (const field of fields) {
    field.addEventListener("input", () => {
      const query = new URLSearchParams(location.search);
      if (field.value) query.set(field.name, field.value); else query.delete(field.name);
      history.replaceState(null, "", `?${query}${location.hash}`);
      apply();
    });
  }
  apply();
}
