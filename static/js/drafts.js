/* Keeps what somebody writes as a draft on the server, every two seconds while it changes (screens U-40). A form with
   `data-draft` names where; its text area has `data-draft-text`. Without this file the form still saves by its button. */
"use strict";

(() => {
  const EVERY_MS = 2000;

  function watch(form) {
    const text = form.querySelector("[data-draft-text]");
    const status = form.querySelector("[data-draft-status]");
    let stored = text.value;
    let isBusy = false;

    async function save() {
      const typed = text.value;
      if (isBusy || typed === stored || form.dataset.sent) return;
      isBusy = true;
      const { version, csrfmiddlewaretoken } = form.elements;
      const body = new URLSearchParams({
        draft: typed, version: version.value, csrfmiddlewaretoken: csrfmiddlewaretoken.value,
      });
      try {
        const answer = await fetch(form.dataset.draft, { method: "POST", body, headers: { "X-Draft": "1" } });
        if (!answer.ok || answer.redirected) throw new Error(answer.status);
        stored = typed;
        status.textContent = await answer.text();
        if (text.value === typed) delete form.dataset.changed;  // nothing is lost by leaving
      } catch {
        status.textContent = status.dataset.failed;
      } finally {
        isBusy = false;
      }
    }

    setInterval(save, EVERY_MS);
  }

  document.querySelectorAll("form[data-draft]").forEach(watch);
})();
