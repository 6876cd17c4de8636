// Asks for an address of this server as a document. The server escapes all that was recorded, and the policy of the page
// lets no script run that stands in one. What is brought into a page is in the page's zone, also where its address names one.
const inZone = (address) => {
  const wanted = new URL(address, location.href);
  const zone = new URLSearchParams(location.search).get("tz");
  if (zone) wanted.searchParams.set("tz", zone);
  return wanted;
};

export const documentAt = (address) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", inZone(address));
    request.responseType = "document";
    request.timeout = 20000;
    request.onload = () => (request.status === 200 && request.responseXML ? resolve(request.responseXML) : reject(new Error(String(request.status))));
    request.onerror = request.ontimeout = () => reject(new Error("no answer"));
    request.send();
  });
