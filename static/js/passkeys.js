/* Passkeys: fetches a challenge, lets the browser sign it or make a key, and sends the form with the answer.
   A button `data-passkey="get"` or `"create"` stands in the form; without this file other ways in remain. Browsers know
   passkeys over https and on localhost, and only under a name: elsewhere what is marked `data-needs-passkeys` goes. */
"use strict";

(() => {
  const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const withBytes = (keys) => keys?.map((key) => ({ ...key, id: decode(key.id) }));

  async function fetchOptions(button) {
    const token = button.form.elements.csrfmiddlewaretoken.value;
    const answer = await fetch(button.dataset.options, { method: "POST", headers: { "X-CSRFToken": token } });
    if (answer.redirected) location.reload();
    if (!answer.ok) throw new Error(`no challenge: ${answer.status}`);
    const { publicKey } = await answer.json();
    const options = { ...publicKey, challenge: decode(publicKey.challenge) };
    if (options.user) options.user = { ...options.user, id: decode(options.user.id) };
    options.allowCredentials = withBytes(options.allowCredentials);
    options.excludeCredentials = withBytes(options.excludeCredentials);
    return options;
  }

  function asJson(credential) {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = encode(credential.response[name]);
    }
    if (credential.response.getTransports) response.transports = credential.response.getTransports();
    return JSON.stringify({
      id: credential.id,
      rawId: encode(credential.rawId),
      type: credential.type,
      authenticatorAttachment: credential.authenticatorAttachment,
      clientExtensionResults: credential.getClientExtensionResults(),
      response,
    });
  }

  async function use(button) {
    const failed = button.form.querySelector("[data-passkey-failed]");
    failed.hidden = true;
    button.disabled = true;
    try {
      const publicKey = await fetchOptions(button);
      const credential = await navigator.credentials[button.dataset.passkey]({ publicKey });
      button.form.elements.credential.value = asJson(credential);
      button.form.requestSubmit();
    } catch {
      failed.hidden = false;
    } finally {
      button.disabled = false;
    }
  }

  const isBareAddress = /^[\d.]+$|^\[/.test(location.hostname);
  if (isBareAddress || !window.PublicKeyCredential) {
    document.querySelectorAll("[data-needs-passkeys]").forEach((place) => place.remove());
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-passkey]");
    if (button) use(button);
  });
})();
