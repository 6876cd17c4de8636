// Tells the server in which time zone its reader sits; when that was news, the page is asked for once more.
export const keepZone = () => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = document.cookie.includes(`limpet-zone=${encodeURIComponent(zone)}`);
  if (!zone || known) return;
  document.cookie = `limpet-zone=${encodeURIComponent(zone)}; path=/; samesite=strict; max-age=31536000`;
  const asked = new URLSearchParams(location.search).has("tz");
  if (!asked && document.documentElement.dataset.zone !== zone && document.cookie.includes("limpet-zone=")) location.reload();
};
