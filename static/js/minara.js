/* What a page cannot do by itself: toasts that leave, keys, bulk choice, theme without reload, guards, focus after a swap.
   Every act here is also a link or a form; without this file the console still works. */
"use strict";

(() => {
  const root = document.documentElement;
  const find = (selector, from = document) => from.querySelector(selector);
  const findAll = (selector, from = document) => [...from.querySelectorAll(selector)];

  /* ---- toasts: ten seconds, longer while a pointer or the focus is on one; then the time of all of them stands still */
  const TOAST_MS = 10000;
  const LAST_MS = 1000;  // what is left at least after that
  const strip = find("#toasts");
  const canHover = matchMedia("(hover: hover)");
  const clocks = new Map();

  function runClocks() {
    const isHeld = Boolean(find(".toast:focus-within") || (canHover.matches && find(".toast:hover")));
    const now = Date.now();
    clocks.forEach((clock, toast) => {
      clearTimeout(clock.timer);
      if (!toast.isConnected) { clocks.delete(toast); return; }
      if (clock.since) clock.left -= now - clock.since;
      clock.since = isHeld ? 0 : now;
      if (!isHeld) clock.timer = setTimeout(() => toast.remove(), Math.max(clock.left, LAST_MS));
    });
  }

  function watchToasts() {
    findAll("[data-toast='']").forEach((toast) => {
      toast.dataset.toast = "watched";
      clocks.set(toast, { left: TOAST_MS, since: 0 });
    });
    runClocks();
  }

  /* the strip keeps its height when a toast leaves, so that nothing moves under a pointer, until the page is scrolled */
  function keepStrip() {
    root.style.setProperty("--toasts", `${strip.getBoundingClientRect().height}px`);
    strip.scrollTop = strip.scrollHeight;  // the newest is seen where there is no room for all
  }

  function fitStrip() {
    root.style.removeProperty("--toasts");
    keepStrip();
  }

  function closeStrip() {
    const height = strip.offsetHeight;
    if (!height || strip.children.length) return;
    fitStrip();
    scrollBy(0, -height);
  }

  if (strip) {
    keepStrip();
    new ResizeObserver(keepStrip).observe(strip);
    addEventListener("resize", fitStrip);
    addEventListener("scroll", closeStrip, { passive: true });
    for (const name of ["pointerover", "pointerout", "focusin", "focusout"]) {
      strip.addEventListener(name, () => setTimeout(runClocks));  // once the event has changed what is hovered or focused
    }
  }

  /* a live region speaks only of what is added to it, so toasts that came with the page go in once more */
  function announceToasts() {
    const toasts = strip ? [...strip.children] : [];
    toasts.forEach((toast) => toast.remove());
    setTimeout(() => { strip?.append(...toasts); watchToasts(); }, 50);
  }

  /* ---- lists: cursor row, choice, counts */
  const ROW = ":is(tbody > tr, [data-row])";
  const rowsOf = (list) => findAll(ROW, list);
  const boxesOf = (list) => findAll(`${ROW} input[name='ids']`, list);
  const chosenList = () => findAll("[data-list]").find((list) => boxesOf(list).some((box) => box.checked));

  function currentRow() {
    return find(`${ROW}.cursor`) ?? find("[data-row]:has([aria-current])");
  }

  /* a row of a queue shows its text beside the list as soon as the cursor is on it */
  function moveCursor(step) {
    const rows = findAll(`[data-list] ${ROW}`).filter((row) => row.checkVisibility());  // not those folded beneath another
    if (!rows.length) return;
    const now = rows.indexOf(currentRow());
    const next = rows[Math.min(Math.max(now + step, 0), rows.length - 1)];
    currentRow()?.classList.remove("cursor");
    next.classList.add("cursor");
    (find("[data-open]", next) ?? find("a, button, input", next) ?? next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    if (next.matches("[data-row]")) find("[data-open]", next).click();
  }

  /* while the text of the row under the cursor is still on its way, no key decides about the one before */
  function isCurrentShown() {
    const row = find("[data-row].cursor");
    return !row || row.id === find("[data-shown-row]")?.dataset.shownRow;
  }

  /* a queue: the row whose text is shown is the current one */
  function showCurrent(pane) {
    const shown = find("[data-shown-row]", pane);
    const link = shown && find(`#${shown.dataset.shownRow} [data-open]`);
    findAll("[data-row] [aria-current]").forEach((other) => { if (other !== link) other.removeAttribute("aria-current"); });
    if (link) link.ariaCurrent = "true";
  }

  function showChoice(list) {
    const boxes = boxesOf(list);
    const chosen = boxes.filter((box) => box.checked);
    boxes.forEach((box) => box.closest("tr")?.setAttribute("aria-selected", box.checked));
    const words = find("[data-selected]", list);
    if (words) words.textContent = words.dataset.words.replace("{n}", chosen.length.toLocaleString("en"));
    const all = find("[data-pick-all]", list);
    if (all) {
      all.disabled = !boxes.length;
      all.checked = chosen.length > 0 && chosen.length === boxes.length;
      all.indeterminate = chosen.length > 0 && !all.checked;
    }
  }

  function showCounts(list) {
    const shown = rowsOf(list).length.toLocaleString("en");
    findAll("[data-shown]", list).forEach((place) => { place.textContent = shown; });
  }

  function clearChoice(list) {
    [...boxesOf(list), ...findAll("[data-all]", list)].forEach((box) => { box.checked = false; });
    showChoice(list);
  }

  /* ---- theme: at once here, kept by the form */
  const THEMES = ["system", "light", "dark"];

  function turnTheme(form) {
    const button = find("button", form);
    root.dataset.theme = button.value;
    button.ariaLabel = button.title = JSON.parse(form.dataset.labels)[button.value];
    button.value = THEMES[(THEMES.indexOf(button.value) + 1) % THEMES.length];
  }

  /* ---- guards: a form is sent once, and a changed one is not left by accident */
  const RESEND_MS = 5000;

  function guardSubmit(event) {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent || form.classList.contains("htmx-request")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    delete form.dataset.changed;
    if (form.hasAttribute("hx-post")) return;
    form.dataset.sent = "yes";
    setTimeout(() => { delete form.dataset.sent; }, RESEND_MS);
  }

  addEventListener("pageshow", () => findAll("form[data-sent]").forEach((form) => { delete form.dataset.sent; }));
  addEventListener("beforeunload", (event) => { if (find("form[data-changed]")) event.preventDefault(); });

  /* ---- inline edit: Esc and Cancel bring the old piece back without asking the server */
  let kept = null;
  const pieceOf = (form) => form.closest("tr") ?? form;

  function cancelEdit(form) {
    if (!kept) return false;
    const piece = kept;
    kept = null;
    pieceOf(form).replaceWith(piece);
    htmx.process(piece);
    find("[data-edit], [data-open], a, button", piece)?.focus();
    return true;
  }

  /* ---- keys */
  const isTyping = (target) => target.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable]");
  const press = (element) => { element?.click(); return Boolean(element); };
  let awaitsGo = false;

  function go(key) {
    awaitsGo = false;
    return press(find(`[data-go="${CSS.escape(key)}"]`));
  }

  function remove() {
    const list = chosenList();
    return press(find("[data-act='delete']", (list && find(".bulk", list)) || currentRow() || find("main")));
  }

  function select() {
    const box = currentRow() && find("input[name='ids']", currentRow());
    return press(box);
  }

  function focusKey(key) {
    const name = CSS.escape(key);
    const list = chosenList();
    if (list && press(find(`.bulk [data-bulk-key="${name}"]`, list))) return true;
    const own = currentRow() && find(`[data-row-key="${name}"]`, currentRow());
    if (press(own)) {
      if (own.matches("summary")) find("input:not([type='hidden'])", own.parentElement)?.focus();
      return true;
    }
    const target = find(`main [data-key="${name}"]`) ?? find(`[data-key="${name}"]`);
    if (!target || (target.closest("[data-pane]") && !isCurrentShown())) return false;
    if (target.matches("input, textarea")) { target.focus(); target.select(); } else target.click();
    return true;
  }

  const KEYS = {
    j: () => { moveCursor(1); return true; },
    k: () => { moveCursor(-1); return true; },
    x: select,
    e: remove,
    i: () => press(find("[data-edit]", currentRow() ?? find("main"))),
    u: () => press(findAll("#toasts [data-undo] button").at(-1)),
    g: () => { awaitsGo = true; setTimeout(() => { awaitsGo = false; }, 1500); return true; },
    "?": () => { find("#shortcuts")?.togglePopover(); return true; },
  };

  function escape(target) {
    const form = target.closest("[data-inline]");
    if (form) return cancelEdit(form);
    const menu = find("details[open].row-menu, details[open].drop-form");
    if (menu) {
      menu.open = false;
      find("summary", menu).focus();
      return true;
    }
    const list = chosenList();
    if (!list) return press(find("main [data-key='Escape']"));
    clearChoice(list);
    return true;
  }

  function onKey(event) {
    const { key, target } = event;
    if (key === "Escape") { escape(target); return; }
    if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      target.closest("form[data-inline], form[data-guard]")?.requestSubmit();
      return;
    }
    if (key === "Enter" && target.matches("[data-list] input[name='ids']")) {  // would press the first bulk button
      event.preventDefault();
      press(find("[data-open]", target.closest(ROW)));
      return;
    }
    if (root.dataset.shortcuts !== "on" || event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
    const act = awaitsGo ? () => go(key) : KEYS[key] ?? (() => focusKey(key));
    if (key.length === 1 && key !== " " && act()) event.preventDefault();
  }

  /* ---- copy: the value of a field, or the exact bytes of a prompt; browsers allow it over https and on localhost */
  async function copyFrom(button) {
    const source = find(button.dataset.copy);
    await navigator.clipboard.writeText(source.value ?? findAll(".bytes", source).map((part) => part.textContent).join(""));
    const words = find("span", button);
    const before = words.textContent;
    if (before === button.dataset.copied) return;
    words.textContent = button.dataset.copied;
    setTimeout(() => { words.textContent = before; }, 2000);
  }

  /* ---- listeners */
  document.addEventListener("keydown", onKey);
  document.addEventListener("submit", guardSubmit, true);
  document.addEventListener("click", (event) => {
    const { target } = event;
    const cancel = target.closest("[data-inline] [data-cancel]");
    if (cancel && cancelEdit(cancel.closest("[data-inline]"))) event.preventDefault();
    if (target.closest("[data-copy]")) copyFrom(target.closest("[data-copy]"));
    if (target.closest("[data-dismiss]")) {
      target.closest("[data-toast], [data-problem]").remove();
      runClocks();
    }
    if (target.closest("[data-clear]")) clearChoice(target.closest("[data-list]"));
    findAll("details[open].row-menu, details[open].drop-form").forEach((menu) => {
      if (!menu.contains(target)) menu.open = false;
    });
  });
  document.addEventListener("change", (event) => {
    const list = event.target.closest("[data-list]");
    if (!list) return;
    if (event.target.matches("[data-pick-all]")) boxesOf(list).forEach((box) => { box.checked = event.target.checked; });
    const similar = event.target.closest("[data-row]")?.nextElementSibling;
    if (similar?.matches("[data-similar]")) boxesOf(similar).forEach((box) => { box.checked = event.target.checked; });
    showChoice(list);
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-guard]");
    if (form) form.dataset.changed = "yes";
  });
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest(`[data-list] ${ROW}`);
    if (row && row !== find(`${ROW}.cursor`)) {
      currentRow()?.classList.remove("cursor");
      row.classList.add("cursor");
    }
  });

  /* ---- after htmx has changed the page */
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.target.closest("[data-theme-form]");
    if (form) turnTheme(form);
    if (event.target.matches("[data-claim]") && (document.hidden || !event.target.checkVisibility())) event.preventDefault();
    const link = event.target.closest("[data-row] [data-open]");
    if (link && !find("[data-pane]")?.offsetParent) {  // a narrow window has no place beside the list
      event.preventDefault();
      location.assign(link.href);
    }
  });
  let place = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, serverResponse } = event.detail;
    const row = target.closest("[data-list] tbody > tr");
    place = row && { list: row.closest("[data-list]").id, index: [...row.parentElement.children].indexOf(row) };
    if (serverResponse.includes("data-inline") && !find("[data-inline]", target)) kept = target.cloneNode(true);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    watchToasts();
    if (event.target.matches?.("[data-pane]")) {
      showCurrent(event.target);
      const isCancelled = event.detail.requestConfig?.elt.dataset.key === "Escape";  // the link with the focus is gone
      if (isCancelled) find("[data-key='a']", event.target)?.focus({ preventScroll: true });
    }
    if (event.target.matches?.(".verdict")) find("[data-key='Escape']", event.target)?.focus({ preventScroll: true });
    findAll("[data-list]").forEach((list) => { showCounts(list); showChoice(list); });
    const form = find("[data-inline]");
    if (form) {
      (find("[aria-invalid='true']", form) ?? find("textarea, input:not([type='hidden']), select", form))?.focus();
    } else if (place && document.activeElement === document.body) {
      const rows = rowsOf(document.getElementById(place.list) ?? document);
      const row = rows[Math.min(place.index, rows.length - 1)];
      (row && find("[data-edit], [data-open], a, button", row) || find("#main"))?.focus();
    }
    place = null;
  });

  /* ---- the place is kept from page to page: how far the side bar is scrolled, and the filters of a list */
  const SIDE = "side";
  const store = (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* storage is off or full */ } };
  const stored = (name) => { try { return sessionStorage.getItem(name); } catch { return null; } };

  addEventListener("pagehide", () => {
    const menu = find(".nav");
    if (menu) store(SIDE, menu.scrollTop);
    if (find("[data-list]")) store(location.pathname, location.search);
  });

  function showPlace() {
    const menu = find(".nav");
    const tabs = find(".page-tabs");
    if (menu) menu.scrollTop = stored(SIDE) ?? 0;
    [menu, tabs, ...findAll(".seg")].forEach((bar) => {  // longer than some windows; only the bar moves, not the page
      const here = bar && find("[aria-current]", bar)?.getBoundingClientRect();
      if (!here) return;
      const { top, bottom, right } = bar.getBoundingClientRect();
      bar.scrollTop += Math.min(0, here.top - top) + Math.max(0, here.bottom - bottom + 24);
      bar.scrollLeft += Math.max(0, here.right - right + 24);
    });
    findAll("a[data-back]").forEach((link) => { link.search ||= stored(link.pathname) ?? ""; });
  }

  document.addEventListener("focusin", ({ target }) => {  // browsers leave a tab that is cut off where it is
    target.closest(".page-tabs a")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  /* ---- nobody answers: said once, until somebody does */
  document.addEventListener("htmx:sendError", () => {
    const notice = find("#no-answer");
    if (notice && !find("#toasts [data-no-answer]")) find("#toasts").append(notice.content.cloneNode(true));
  });
  document.addEventListener("htmx:afterOnLoad", () => find("#toasts [data-no-answer]")?.remove());

  findAll("[data-copy]").forEach((button) => { button.hidden = !navigator.clipboard; });
  showPlace();
  announceToasts();
  findAll("[data-list]").forEach(showChoice);
  root.dataset.ready = "";  // the last of the scripts: what needs one may be pressed from here on
})();
