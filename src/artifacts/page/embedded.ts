/** Characters that are decoded at once; four of them are three bytes. */
const PIECE = 4 * 65_536;

/** The bytes of the archive that the page carries as text in an element that nothing runs. */
export function readEmbedded(element: HTMLElement): Uint8Array<ArrayBuffer> {
  const text = (element.textContent ?? '').trim();
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text.slice(-PIECE)) || text.length % 4 !== 0)
    throw new Error('The embedded bundle is no base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let at = 0;
  for (let from = 0; from < text.length; from += PIECE) {
    const piece = atob(text.slice(from, from + PIECE));
    for (let i = 0; i < piece.length; i += 1) bytes[at + i] = piece.charCodeAt(i);
    at += piece.length;
  }
  return bytes;
}
