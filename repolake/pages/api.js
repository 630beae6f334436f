// Asks the server, with the token that the person gave for this tab.

const TOKEN = "repolake-token";

/** A refusal of the server; `status` is its code. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Return the JSON of an address below this page, and what the ranking had to do without. */
export async function ask(address, signal) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  let response;
  try {
    response = await fetch(address, { headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "the server cannot be reached; try again");
  }
  const found = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(response.status, found?.error ?? `the server answered ${response.status}`);
  return { found, notes: JSON.parse(response.headers.get("repolake-notes") ?? "[]") };
}

/** Show an error; where a token is missing, ask for it and call `again`. */
export function showError(error, again) {
  const message = document.getElementById("message");
  const unlock = document.getElementById("unlock");
  message.textContent = error.message;
  message.className = "message bad";
  if (error.status !== 401) return;
  message.className = "message";
  message.textContent = sessionStorage.getItem(TOKEN) ? "That token is wrong." : "";
  unlock.hidden = false;
  unlock.onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(TOKEN, document.getElementById("token").value.trim());
    unlock.hidden = true;
    again();
  };
  document.getElementById("token").focus();
}
