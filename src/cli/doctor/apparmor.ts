const PLACE = '/etc/apparmor.d/assay-helper';

/** What root does once, where AppArmor restricts user namespaces. */
export const APPARMOR_COMMAND = `assay doctor --apparmor > ${PLACE} && apparmor_parser -r ${PLACE}`;

/** In a profile wildcards are escaped, and a name with a blank in it is quoted. */
function quote(path: string): string {
  return `"${path.replace(/[\\"*?[\]{}^@]/g, '\\$&')}"`;
}

/** A profile for the helper alone: it confines nothing, and lets it make user namespaces. */
export function makeApparmorProfile(helper: string): string {
  return `# Lets assay make the namespaces of its sandboxes; nothing else is changed.
#   ${APPARMOR_COMMAND}
# Where assay itself runs under a profile, that one needs the line:
#   ${quote(helper)} rmpx -> assay-helper,
abi <abi/4.0>,
include <tunables/global>

profile assay-helper ${quote(helper)} flags=(unconfined) {
  userns,
}
`;
}
