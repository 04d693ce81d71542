/** A flag whose name does not tell that a secret follows. */
export interface ProgramFlag {
  readonly flag: string;
  /** The program asks when nothing is glued to the flag: the next argument is something else. */
  readonly isGluedOnly?: boolean;
  /** The value is never glued to the flag: `-k secret`, while `-keyout` is another flag. */
  readonly isApartOnly?: boolean;
  /** Counts only after this word: `docker login -p`, not `docker run -p`. */
  readonly after?: string;
  /** Counts only when the value holds this: `-b name=value`, not `-b cookies.txt`. */
  readonly holding?: string;
}

const GLUED: readonly ProgramFlag[] = [{ flag: '-p', isGluedOnly: true }];
const HTTPIE: readonly ProgramFlag[] = [{ flag: '-a' }, { flag: '--auth' }];
const LOGIN: readonly ProgramFlag[] = [{ flag: '-p', after: 'login' }];

/** By program. */
export const PROGRAM_FLAGS: Readonly<Record<string, readonly ProgramFlag[]>> = {
  curl: [
    { flag: '-u' },
    { flag: '--user' },
    { flag: '-U' },
    { flag: '--proxy-user' },
    { flag: '-b', holding: '=' },
    { flag: '--cookie', holding: '=' },
  ],
  http: HTTPIE,
  https: HTTPIE,
  xh: HTTPIE,
  mysql: GLUED,
  mysqldump: GLUED,
  mysqladmin: GLUED,
  mysqlimport: GLUED,
  mariadb: GLUED,
  'mariadb-dump': GLUED,
  'mariadb-admin': GLUED,
  '7z': GLUED,
  '7za': GLUED,
  '7zz': GLUED,
  rar: [
    { flag: '-p', isGluedOnly: true },
    { flag: '-hp', isGluedOnly: true },
  ],
  unrar: GLUED,
  docker: LOGIN,
  podman: LOGIN,
  nerdctl: LOGIN,
  helm: LOGIN,
  oc: LOGIN,
  az: LOGIN,
  gh: [
    { flag: '-b', after: 'secret' },
    { flag: '--body', after: 'secret' },
  ],
  mongo: [{ flag: '-p' }],
  mongosh: [{ flag: '-p' }],
  mongodump: [{ flag: '-p' }],
  mongorestore: [{ flag: '-p' }],
  mongoexport: [{ flag: '-p' }],
  mongoimport: [{ flag: '-p' }],
  cqlsh: [{ flag: '-p' }],
  useradd: [{ flag: '-p' }],
  usermod: [{ flag: '-p' }],
  sshpass: [{ flag: '-p' }],
  twine: [{ flag: '-p' }],
  'redis-cli': [{ flag: '-a' }],
  ldapsearch: [{ flag: '-w' }],
  ldapmodify: [{ flag: '-w' }],
  ldapadd: [{ flag: '-w' }],
  ldapdelete: [{ flag: '-w' }],
  ldapwhoami: [{ flag: '-w' }],
  openssl: [
    { flag: '-k', isApartOnly: true },
    { flag: '-K', isApartOnly: true },
    { flag: '-pass', isApartOnly: true, holding: 'pass:' },
    { flag: '-passin', isApartOnly: true, holding: 'pass:' },
    { flag: '-passout', isApartOnly: true, holding: 'pass:' },
  ],
  ipmitool: [{ flag: '-P' }],
  sqlcmd: [{ flag: '-P' }],
  bcp: [{ flag: '-P' }],
  zip: [{ flag: '-P' }],
  unzip: [{ flag: '-P' }],
  mosquitto_pub: [{ flag: '-P' }],
  mosquitto_sub: [{ flag: '-P' }],
  'ssh-keygen': [{ flag: '-N' }, { flag: '-P' }],
  smbclient: [{ flag: '-U', holding: '%' }],
  lftp: [{ flag: '-u', holding: ',' }],
};
