// The page: tabs that move with the arrow keys, and the three panels behind them.

import {byId} from "/elements.js";
import {contents} from "/service.js";
import {startAnalysing} from "/analyze.js";
import {startComparing} from "/compare.js";
import {startDecoding} from "/decode.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];

function show(name, {focus = false} = {}) {
  for (const tab of tabs) {
    const chosen = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  history.replaceState(null, "", `#${name}`);
  document.dispatchEvent(new CustomEvent("panel", {detail: name}));
}

tabs.forEach((tab, number) => {
  tab.addEventListener("click", () => show(tab.getAttribute("aria-controls")));
  tab.addEventListener("keydown", (event) => {
    const moves = {ArrowRight: number + 1, ArrowLeft: number - 1, Home: 0, End: tabs.length - 1};
    if (!(event.key in moves)) return;
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
  const decoding = startDecoding(found);
  startAnalysing(found, (problem) => {
    decoding.open(problem);
    show("decode", {focus: true});
  });
  startComparing(found);
  const wanted = location.hash.slice(1);
  show(tabs.some((tab) => tab.getAttribute("aria-controls") === wanted) ? wanted : "analyze");
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

start();
