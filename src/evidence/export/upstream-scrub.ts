const SECRET_MARKS = [
  'authorization: bearer ',
  'authorization: ',
  'token=',
  'key=',
  'bearer ',
  'api_key=',
  'apikey=',
  'secret=',
  'password=',
  'session=',
  'cookie=',
  'x-api-key:',
  'x-token:',
];

/** What the older format shows of a subject: no name of a user, nothing behind a word that announces a secret. */
export function scrubSubject(subject: string): string {
  const [, rest] = /^\/(?:Users|home)\/[^/]*\/?(.*)$/s.exec(subject.replaceAll('\\', '/')) ?? [];
  const path = rest === undefined ? subject : `~/**/${rest}`;
  const lower = path.toLowerCase();
  const mark = SECRET_MARKS.find((one) => lower.includes(one));
  return mark === undefined ? path : `${path.slice(0, lower.indexOf(mark) + mark.length)}***`;
}
