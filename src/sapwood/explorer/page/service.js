// Asking the server. Every answer is JSON; every error becomes a Fault with a message for the user.

export class Fault extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

async function read(response) {
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Fault("network", "the server's answer cannot be read; is it still running?");
  }
  if (!response.ok || answer.error) {
    throw new Fault(answer.error?.kind ?? "unknown", answer.error?.message ?? `the server says ${response.status}.`);
  }
  return answer;
}

async function send(path, settings) {
  let response;
  try {
    response = await fetch(path, {...settings, cache: "no-store", credentials: "omit"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Fault("network", "the server does not answer; is it still running in the terminal?");
  }
  return read(response);
}

export function contents() {
  return send("/api/contents", {});
}

export function ask(path, request, signal) {
  return send(`/api/${path}`, {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify(request),
    signal,
  });
}

// One conversation of a panel: a new question cancels the one before, and its outcome is announced.
export class Conversation {
  constructor(path, {status, fault, results}) {
    Object.assign(this, {path, status, fault, results});
    this.running = null;
  }

  async ask(request, show) {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.results.classList.add("waiting");
    this.results.setAttribute("aria-busy", "true");
    const start = performance.now();
    try {
      const answer = await ask(this.path, request, running.signal);
      if (this.running !== running) return;
      this.fault.hidden = true;
      const said = show(answer);
      this.results.dataset.milliseconds = String(Math.round(performance.now() - start));
      this.status.textContent = `${said} ${answer.milliseconds} ms.`;
    } catch (error) {
      if (error.name === "AbortError" || this.running !== running) return;
      if (!(error instanceof Fault)) throw error;
      this.status.textContent = "";
      this.fault.textContent = error.message.charAt(0).toUpperCase() + error.message.slice(1);
      this.fault.hidden = false;
      this.results.replaceChildren();
    } finally {
      if (this.running === running) {
        this.running = null;
        this.results.classList.remove("waiting");
        this.results.removeAttribute("aria-busy");
      }
    }
  }
}
