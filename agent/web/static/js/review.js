/** Review by a clinician: why it is asked for, what was found, and the form for a key that may review. */

import { announce, freshId, h, replace } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {(verdict: string, correction: string) => Promise<Review>} Save */

const VERDICTS = [["accepted", "accept"], ["corrected", "correct"], ["rejected", "reject"]];
export const REVIEW_NOTICE = "clinician_review"; // the notice that asks for it

/** Whether an answer asks for a review. @param {Answer} answer */
export function asksReview(answer) {
  return Boolean(answer.review_reasons?.length) || answer.notices.some((n) => n.code === REVIEW_NOTICE);
}

/**
 * @param {Answer} answer
 * @param {Review | null} review
 * @param {Save | null} onReview null where the key may not
 * @param {Translate} t
 */
export function reviewBox(answer, review, onReview, t) {
  const reasons = answer.review_reasons ?? [];
  const notice = answer.notices.find((n) => n.code === REVIEW_NOTICE);
  const asked = asksReview(answer);
  if (!asked && !review && !onReview) return null;
  const box = h("section", { class: `review ${asked && !review ? "asked" : ""}`, "aria-label": t("review") });
  const show = (/** @type {Review | null} */ given) => {
    replace(
      box,
      asked && !given ? h("p", {}, h("strong", {}, "⚠ ", reasons.length || !notice ? t("reviewAsked") : notice.text)) : null,
      asked && !given && reasons.length ? h("p", { class: "small" }, `${t("why")}: ${reasons.map((r) => r.text).join(t("joint"))}`) : null,
      given ? given_(given, t) : null,
      onReview ? form(given, onReview, show, t) : null,
    );
  };
  show(review);
  return box;
}

/** @param {Review} review @param {Translate} t */
function given_(review, t) {
  const at = new Date(review.at).toLocaleString();
  const sign = review.verdict === "accepted" ? "✓" : review.verdict === "rejected" ? "✗" : "✎";
  return h(
    "div",
    { class: `given ${review.verdict}` },
    h("p", {}, h("strong", {}, `${sign} `, t("reviewedBy", { verdict: t(review.verdict), reviewer: review.reviewer, at }))),
    review.correction ? h("blockquote", {}, review.correction) : null,
  );
}

/** @param {Review | null} given @param {Save} save @param {(review: Review) => void} done @param {Translate} t */
function form(given, save, done, t) {
  const name = freshId("verdict");
  const text = h("textarea", { id: `${name}-text`, rows: 3, maxlength: 20000 });
  text.value = given?.correction ?? "";
  const label = h("label", { for: `${name}-text` }, t("correction"));
  const correction = h("div", { hidden: given?.verdict !== "corrected" }, label, text);
  const choices = VERDICTS.map(([value, verb]) => {
    const input = h("input", { type: "radio", name, value, id: `${name}-${value}`, required: true, checked: given?.verdict === value });
    input.addEventListener("change", () => (correction.hidden = value !== "corrected"));
    return h("span", { class: "option" }, input, h("label", { for: `${name}-${value}` }, t(verb)));
  });
  const failed = h("div", {});
  const element = h(
    "form",
    { novalidate: true },
    h("fieldset", {}, h("legend", {}, t("verdict")), choices),
    correction,
    failed,
    h("button", { type: "submit", "data-focus": "save" }, t("reviewSave")),
  );
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    const verdict = String(new FormData(element).get(name) ?? "");
    if (!verdict) return;
    if (verdict === "corrected" && !text.value.trim()) {
      failed.replaceChildren(h("p", { class: "problem", role: "alert" }, t("correctionNeeded")));
      text.focus();
      return;
    }
    try {
      done(await save(verdict, verdict === "corrected" ? text.value.trim() : ""));
      announce(t("reviewSaved"));
    } catch (error) {
      failed.replaceChildren(problemBox(error, t));
    }
  });
  return h("details", {}, h("summary", { "data-focus": "review" }, t("reviewDo")), element);
}
