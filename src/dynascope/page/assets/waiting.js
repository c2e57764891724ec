// The page that comes before the studies are loaded: it asks for itself and waits for the answer.
const answer = await fetch(location.href, { headers: { accept: "text/html", "x-wait": "yes" } }).catch(() => null);
if (answer) location.reload();
else document.getElementById("waiting").textContent = "The server does not answer. Start it again with: dynascope page";
