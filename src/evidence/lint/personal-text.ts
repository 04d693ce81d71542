const ADDRESS =
  /(?<![\w.+/:-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24})(?![\w.-])/g;

/** Ends of names with an @ in them that are no addresses: units of systemd, pictures, sources. */
const NO_DOMAIN =
  /^(?:service|socket|timer|target|mount|path|slice|scope|device|swap|png|jpe?g|gif|svg|webp|avif|ico|[cm]?[jt]sx?|json|map|css|s[ac]ss|less|html?|vue|lock|so|py|pyc|rb|go|rs|md|txt|ya?ml|toml|tgz|gz|zip|patch|diff|local|example|invalid|test|localhost)$/i;

const ROLES = /^(?:git|hg|svn|noreply|no-reply|root|postmaster)@/i;

const HOME = /((?:^|[\s"'=:,(])\/(?:home|Users)\/)(?![$<*.])[A-Za-z0-9._-]{1,64}(?=\/|$)/g;

/** What tells who it was: an address, or the name of a home directory. */
export function findPersonal(text: string): string | undefined {
  if (text.includes('@'))
    for (const [address, domain = ''] of text.matchAll(ADDRESS))
      if (isPerson(address, domain)) return 'an e-mail address';
  if ((text.includes('/home/') || text.includes('/Users/')) && text.search(HOME) !== -1)
    return 'the name of a home directory';
  return undefined;
}

/** The text without what tells. */
export function hidePersonal(text: string): string {
  return text
    .replace(ADDRESS, (address: string, domain: string) =>
      isPerson(address, domain) ? '[address]' : address,
    )
    .replace(HOME, '$1[name]');
}

function isPerson(address: string, domain: string): boolean {
  return !NO_DOMAIN.test(domain) && !ROLES.test(address);
}
