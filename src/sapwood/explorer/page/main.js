// The page: tabs that move with the arrow keys, and the panels behind them.

import {byId} from "/elements.js";
import {contents} from "/service.js";
import {startAnalysing} from "/analyze.js";
import {startChanging} from "/change.js";
import {startComparing} from "/compare.js";
import {startPredicting} from "/data.js";
import {startDecoding} from "/decode.js";
import {rememberSources} from "/saving.js";
import {readState, writeState} from "/state.js";

const panels = {};
const tabs = [...document.querySelectorAll('[role="tab"]')];

function show(name, {focus = false, replace = false, write = true} = {}) {
  for (const tab of tabs) {
    const chosen = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  if (write) writeState(name, panels[name]?.fields() ?? {}, {replace});
  document.dispatchEvent(new CustomEvent("panel", {detail: name}));
}

tabs.forEach((tab, number) => {
  tab.addEventListener("click", () => show(tab.getAttribute("aria-controls")));
  tab.addEventListener("keydown", (event) => {
    const moves = {ArrowRight: number + 1, ArrowLeft: number - 1, Home: 0, End: tabs.length - 1};
    // With Alt, these keys are Back and Forward.
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = tabs[(moves[event.key] + tabs.length) % tabs.length];
    show(next.getAttribute("aria-controls"), {focus: true});
  });
});

async function start() {
  let found;
  try {
    found = await contents();
  } catch (error) {
    byId("start-fault").textContent = error.message;
    byId("start-fault").hidden = false;
    return;
  }
  rememberSources(found.models);
  const decoding = startDecoding(found);
  if (found.about) {
    byId("about").textContent = found.about;
    byId("about").hidden = false;
  }
  const asked = readState();
  const fields = (name) => (asked.panel === name ? asked.fields : {});
  const analyzing = startAnalysing(found, fields("analyze"), (problem) => {
    decoding.open(problem);
    show("decode", {focus: true});
  });
  const predicting = startPredicting(found, (values) => {
    show("analyze", {focus: true, write: false});
    analyzing.restore(values, {remember: true});
  });
  if (asked.panel === "data") predicting.restore(asked.fields);
  if (asked.panel === "decode") decoding.restore(asked.fields);
  Object.assign(panels, {
    analyze: analyzing,
    change: startChanging(found, fields("change")),
    data: predicting,
    compare: startComparing(found, fields("compare")),
    decode: decoding,
  });
  const known = (name) => (tabs.some((tab) => tab.getAttribute("aria-controls") === name) ? name : "analyze");
  show(known(asked.panel), {replace: true});
  // Back, Forward, and an address that was typed.
  addEventListener("popstate", () => {
    const now = readState();
    show(known(now.panel), {write: false});
    panels[now.panel]?.restore(now.fields);
  });
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

start();
