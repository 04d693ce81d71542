import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import { PYTHON, runBare } from '../e2e/run-assay.ts';
import { ASSAY } from './run.ts';

/** Put together here, so that no scanner of this repository takes them for real ones. */
const SECRETS = {
  token: ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_'),
  apiKey: ['sk', 'ant', 'api03', 'Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0FedcBA'].join('-'),
  password: 'hunter2-Correct9Horse',
  aws: ['AKIA', 'Q3EGR7N2XKJH5T4W'].join(''),
  inherited: 'inherited-9f8e7d6c5b4a39281706',
  // Nothing but what assay was told gives these away.
  injected: 'qz+plain/value=77&x',
};

const { token, apiKey, password, aws, inherited, injected } = SECRETS;
const POLICY = `api_version: assay/v1
extends: [coding-agent]
net:
  inject:
    - { host: api.test, header: Authorization, env: API_HEADER }
`;

/** Each way by which a secret may come into sight of the recorder. */
const PROGRAM = `
import os, socket, subprocess, sys
from urllib.parse import quote
token, key, password, aws = sys.argv[2], sys.argv[4].split("=", 1)[1], "${password}", "${aws}"
subprocess.run(["/bin/true", "--token", token])
subprocess.run(["/bin/true", "--api-key=" + key, "-H", "Authorization: Bearer " + token])
subprocess.run(["/bin/true", "https://user:" + password + "@example.org/path?access_token=" + token])
subprocess.run(["/bin/true"], env={"SECRET_TOKEN": token, "PASSWORD": password})
subprocess.run(["/bin/sh", "-c", "export AWS_ACCESS_KEY_ID=" + aws + "; : --password " + password])
for name in (token, key, "dump-" + aws + ".json"):
    open(name, "w").close()
    os.mkdir("dir-" + name)
    os.rename(name, name + ".old")
    os.symlink(name, "link-to-" + name)
try: open("/nonexistent/" + token)
except OSError: pass
try: os.execv("./absent-" + key, ["x", "--token", token])
except OSError: pass
s = socket.socket(socket.AF_UNIX)
try: s.connect("./" + token + ".sock")
except OSError: pass
print(os.environ.get("DEPLOY_PASSWORD", ""))
# Kept from this program by assay, and found all the same.
for value in open("found").read().split():
    subprocess.run(["/bin/true", value, "x" + value.upper() + "y", "https://example.org/?q=" + quote(value, safe="")])
    name = "a-" + quote(value, safe="")
    for place in ("./" + value + ".txt", name, "/etc/" + name, "/etc/" + token, "/etc/" + value):
        try: open(place, "w").close()
        except OSError: pass
    try: socket.getaddrinfo(value.split("=")[0] + ".example.org", 80)
    except (OSError, UnicodeError): pass
`;

describeForEachPerson('secrets', (person) => {
  const openPlace = usePlaces(person);

  it('of arguments, paths, addresses and the environment are in no artifact', async () => {
    const place = openPlace();
    const out = place.makeDir('out');
    place.write('work/program.py', PROGRAM);
    place.write('work/found', `${inherited} ${injected}`);
    place.makeDir(`work/${dirname(injected)}`);
    const policy = place.write('policy.yaml', POLICY);
    const flags = ['--policy', policy, '--verbose', '--profile-format', 'json'];
    const record = ['--profile', join(out, 'run.profile.json'), '--json', join(out, 'run.ndjson')];
    const command = [PYTHON, 'program.py', '--token', token, '--verbose', `--api-key=${apiKey}`];
    const outcome = await runBare({
      place,
      command: [ASSAY, 'sandbox', ...flags, ...record, '--', ...command],
      env: { DEPLOY_PASSWORD: inherited, API_HEADER: `Bearer ${injected}` },
    });
    expect(outcome.code).toBe(0);
    for (const name of readdirSync(out)) {
      const text = readFileSync(join(out, name), 'utf8').toLowerCase();
      for (const [kind, secret] of Object.entries(SECRETS)) {
        expect(text.includes(secret.toLowerCase()), `${kind} in ${name}`).toBe(false);
        expect(text.includes(encodeURIComponent(secret).toLowerCase()), `${kind} in ${name}`).toBe(
          false,
        );
      }
    }
    for (const secret of Object.values(SECRETS)) expect(outcome.stderr).not.toContain(secret);
    expect(readFileSync(join(out, 'run.ndjson'), 'utf8')).toMatch(/REDACTED|\*\*\*/i);
  });
});
