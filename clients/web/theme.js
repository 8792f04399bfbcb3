/** A button between light and dark; until it is pressed the system decides. */
export function bindTheme(button, settings, onchange) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const { theme } = settings.values;
    if (theme) document.documentElement.dataset.theme = theme;
    onchange();
  };
  button.addEventListener("click", () => {
    const dark = (settings.values.theme || (system.matches ? "dark" : "light")) === "dark";
    settings.set({ theme: dark ? "light" : "dark" });
    show();
  });
  system.addEventListener("change", show);
  show();
}
