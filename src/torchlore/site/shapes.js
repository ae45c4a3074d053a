"use strict";
// The arithmetic of torchlore.recipes.shapes, for the browser. tests/test_site.py compares the two.

const KINDS = { conv: "convolution", transpose: "transposed conv", pool: "pooling" };
const FIELDS = ["kernel", "stride", "padding", "dilation", "output_padding"];
const DEFAULTS = { kind: "conv", kernel: 3, stride: 1, padding: 1, dilation: 1, output_padding: 0 };

function outputSize(size, layer) {
  const span = layer.dilation * (layer.kernel - 1);
  if (layer.kind === "transpose") {
    return (size - 1) * layer.stride - 2 * layer.padding + span + layer.output_padding + 1;
  }
  return Math.floor((size + 2 * layer.padding - span - 1) / layer.stride) + 1;
}

function problem(size, layer) {
  if (layer.kernel < 1 || layer.stride < 1 || layer.dilation < 1) return "kernel, stride and dilation start at 1";
  if (layer.padding < 0 || layer.output_padding < 0) return "padding cannot be negative";
  if (layer.kind !== "transpose" && layer.output_padding > 0) return "only a transposed convolution has output padding";
  if (layer.kind === "transpose" && layer.output_padding >= Math.max(layer.stride, layer.dilation)) {
    return "output padding must be smaller than stride or dilation";
  }
  if (layer.kind === "pool" && layer.padding > layer.kernel / 2) return "pooling pads at most half a kernel";
  if (outputSize(size, layer) < 1) return `an input of ${size} is too small for this layer`;
  return "";
}

// Inputs of one layer that feed output index o, along one dimension.
function feeders(o, size, layer) {
  const found = [];
  for (let k = 0; k < layer.kernel; k++) {
    const at = layer.kind === "transpose" ? (o + layer.padding - k * layer.dilation) / layer.stride : o * layer.stride - layer.padding + k * layer.dilation;
    if (Number.isInteger(at) && at >= 0 && at < size) found.push(at);
  }
  return found;
}

function trace(size, layers, o) {
  const sizes = [size];
  for (const layer of layers) sizes.push(outputSize(sizes.at(-1), layer));
  let wanted = new Set([o]);
  for (let i = layers.length - 1; i >= 0; i--) {
    const before = new Set();
    for (const index of wanted) for (const at of feeders(index, sizes[i], layers[i])) before.add(at);
    wanted = before;
  }
  return [...wanted].sort((a, b) => a - b);
}

// Receptive field and step (input pixels between neighbours) after each layer. After a transposed convolution outputs
// differ: the field is then the widest that any output has in this input.
function fields(size, layers) {
  let field = 1, step = 1, side = size, even = true;
  return layers.map((layer, index) => {
    side = outputSize(side, layer);
    if (layer.kind === "transpose") { even = false; step /= layer.stride; } else {
      field += even ? layer.dilation * (layer.kernel - 1) * step : 0;
      step *= layer.stride;
    }
    return { field: even ? field : widest(size, layers.slice(0, index + 1), side), step };
  });
}

function widest(size, layers, side) {
  let most = 0;
  for (let o = 0; o < side; o++) { const fed = trace(size, layers, o); if (fed.length) most = Math.max(most, fed.at(-1) - fed[0] + 1); }
  return most;
}

const state = { layers: [{ ...DEFAULTS }], at: null };
const $ = (id) => document.getElementById(id);

function cell(row, child) { const td = document.createElement("td"); if (child !== undefined) td.append(child); row.append(td); return td; }

function renderRows() {
  const body = document.querySelector("#layers tbody");
  body.replaceChildren();
  state.layers.forEach((layer, index) => {
    const row = document.createElement("tr"), select = document.createElement("select");
    for (const [value, text] of Object.entries(KINDS)) select.add(new Option(text, value, false, value === layer.kind));
    select.setAttribute("aria-label", `kind of layer ${index + 1}`);
    select.onchange = () => { layer.kind = select.value; if (layer.kind === "pool") { layer.kernel = layer.stride = 2; layer.padding = 0; } state.at = null; renderRows(); update(); };
    cell(row, select);
    for (const field of FIELDS) {
      const input = document.createElement("input");
      Object.assign(input, { type: "number", min: 0, value: layer[field] });
      input.dataset.field = field;
      input.setAttribute("aria-label", `${field.replace("_", " ")} of layer ${index + 1}`);
      input.disabled = field === "output_padding" && layer.kind !== "transpose";
      input.oninput = () => { layer[field] = Number.parseInt(input.value, 10) || 0; state.at = null; update(); };
      cell(row, input);
    }
    for (const name of ["size", "field", "step"]) cell(row).className = name;
    const remove = document.createElement("button");
    Object.assign(remove, { type: "button", textContent: "remove", disabled: state.layers.length === 1 });
    remove.onclick = () => { state.layers.splice(index, 1); state.at = null; renderRows(); update(); };
    cell(row, remove);
    body.append(row);
  });
}

function update() {
  const rows = [...document.querySelectorAll("#layers tbody tr")];
  let h = Math.max(1, Number.parseInt($("height").value, 10) || 1), w = Math.max(1, Number.parseInt($("width").value, 10) || 1);
  const start = [h, w];
  $("message").textContent = "";
  let seen = [];
  for (let i = 0; i < state.layers.length; i++) {
    const layer = state.layers[i], trouble = problem(h, layer) || problem(w, layer);
    if (trouble) {
      $("message").textContent = `layer ${i + 1}: ${trouble}`;
      for (const row of rows.slice(i)) for (const name of ["size", "field", "step"]) row.querySelector(`.${name}`).textContent = "";
      for (const id of ["input", "output"]) { $(id).getContext("2d").clearRect(0, 0, 360, 360); $(`${id}-caption`).textContent = ""; }
      return;
    }
    seen = fields(start[0], state.layers.slice(0, i + 1));
    h = outputSize(h, layer); w = outputSize(w, layer);
    rows[i].querySelector(".size").textContent = `${h} × ${w}`;
    rows[i].querySelector(".field").textContent = seen[i].field;
    rows[i].querySelector(".step").textContent = Number(seen[i].step.toFixed(4));
  }
  if (!state.at) state.at = [Math.floor(h / 2), Math.floor(w / 2)];
  state.size = [h, w];
  const ys = trace(start[0], state.layers, state.at[0]), xs = trace(start[1], state.layers, state.at[1]);
  draw($("input"), start, (y, x) => ys.includes(y) && xs.includes(x));
  draw($("output"), [h, w], (y, x) => y === state.at[0] && x === state.at[1]);
  $("input-caption").textContent = `input ${start[0]} × ${start[1]}: ${ys.length * xs.length} pixels feed output pixel (${state.at[0]}, ${state.at[1]})`;
  $("output-caption").textContent = `output ${h} × ${w}`;
  const one = state.layers[0], word = one.kind;
  const flags = [`-k ${one.kernel}`, `-s ${one.stride}`, `-p ${one.padding}`, `-d ${one.dilation}`].concat(word === "transpose" ? [`--output-padding ${one.output_padding}`] : []);
  $("command").textContent = state.layers.length === 1 ? `lore shape ${word} ${start[0]} ${flags.join(" ")}` : "";
}

function draw(canvas, [h, w], lit) {
  const context = canvas.getContext("2d"), style = getComputedStyle(canvas);
  const unit = Math.min(canvas.width / w, canvas.height / h);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.lineWidth = 1;
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
    const on = lit(y, x);
    if (!on && unit < 4) continue;
    context.fillStyle = on ? "#e64a19" : "transparent";
    context.fillRect(x * unit, y * unit, Math.max(unit, 1), Math.max(unit, 1));
    if (unit >= 4) { context.strokeStyle = style.borderTopColor; context.strokeRect(x * unit + 0.5, y * unit + 0.5, unit - 1, unit - 1); }
  }
}

$("output").onclick = (event) => {
  const [h, w] = state.size, box = $("output").getBoundingClientRect(), unit = Math.min(360 / w, 360 / h) * (box.width / 362);
  const at = [Math.floor((event.clientY - box.top) / unit), Math.floor((event.clientX - box.left) / unit)];
  if (at[0] < h && at[1] < w) { state.at = at; update(); }
};
for (const id of ["height", "width"]) $(id).oninput = () => { state.at = null; update(); };
$("add").onclick = () => { state.layers.push({ ...DEFAULTS }); state.at = null; renderRows(); update(); };
renderRows();
update();
