// Forgetting a record asks first: it cannot be undone.
import { post } from "./connection.js";

document.addEventListener("click", async ({ target }) => {
  const record = target.dataset.forget;
  if (!record || !confirm(`Forget record ${record}? This cannot be undone.`)) return;
  try {
    await post(`/forget/${record}`);
    if (target.dataset.then) location.assign(target.dataset.then);
    else target.closest("tr").remove();
  } catch (error) { alert(error.message); }
});
