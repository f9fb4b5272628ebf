/**
 * The page of the API: Swagger UI on the server's own description. A key that is typed in stays in this window; the
 * log-in cookie of the page serves without one.
 */
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
root.classList.toggle("dark-mode", (root.dataset.theme ?? system) === "dark");

// Requests go where this page is, also below a path prefix.
const servers = [{ url: new URL(".", location.href).href }];
const here = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (/** @type {Function} */ next) => (/** @type {object} */ described) =>
          next({ ...described, servers }),
      },
    },
  },
});

// @ts-ignore: the name is of a script that has no types
window.SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  plugins: [here],
  validatorUrl: null, // else it asks a service of Swagger's
  tryItOutEnabled: true,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
});
