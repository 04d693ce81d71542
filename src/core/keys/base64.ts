/** Bytes from base64 in its one valid form, standard or URL-safe, or undefined: what is cut off or padded with stray bits is not repaired. */
export function decodeBase64(text: string): Buffer | undefined {
  if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  return bytes.toString('base64') === standard ? bytes : undefined;
}
