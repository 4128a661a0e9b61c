// The address holds the panel and what it was asked, so that a link, Back and reload show the same again. Texts too long
// for an address stay in the history of the tab: Back and reload find them there, a link shows the panel alone.

const LONGEST = 6000;

export function readState() {
  if (history.state?.panel !== undefined) return history.state;
  const [panel, query = ""] = decodeHash().split("?", 2);
  return {panel, fields: Object.fromEntries(new URLSearchParams(query))};
}

function decodeHash() {
  const hash = location.hash.slice(1);
  const at = hash.indexOf("?");
  return at < 0 ? hash : `${hash.slice(0, at)}?${hash.slice(at + 1).replaceAll("?", "%3F")}`;
}

// Whether the address alone shows the same again.
export function fitsAddress() {
  return location.hash.includes("?") || !Object.keys(history.state?.fields ?? {}).length;
}

export function writeState(panel, fields, {replace = false} = {}) {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept).toString();
  const hash = query && query.length <= LONGEST ? `#${panel}?${query}` : `#${panel}`;
  const state = {panel, fields: Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))};
  if (hash === location.hash && JSON.stringify(state) === JSON.stringify(readState())) return;
  if (replace) history.replaceState(state, "", hash);
  else history.pushState(state, "", hash);
}
