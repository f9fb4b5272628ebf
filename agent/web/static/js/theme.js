/**
 * Light, dark, or as the system is. No module: it runs before the page is first drawn, so that nothing flashes.
 */
(() => {
  const KEPT = "anamnesis-theme";
  const root = document.documentElement;
  const set = (/** @type {string} */ theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  try {
    set(localStorage.getItem(KEPT) ?? "");
  } catch {
    // storage may be forbidden; the system's colours serve
  }
  document.addEventListener("DOMContentLoaded", () => {
    const select = document.getElementById("theme");
    if (!(select instanceof HTMLSelectElement)) return;
    select.value = root.dataset.theme ?? "";
    select.addEventListener("change", () => {
      set(select.value);
      try {
        if (select.value) localStorage.setItem(KEPT, select.value);
        else localStorage.removeItem(KEPT);
      } catch {
        // then it holds until the page is left
      }
    });
  });
})();
