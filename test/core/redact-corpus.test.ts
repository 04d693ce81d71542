import { describe, expect, it } from 'vitest';
import { redactArgv, redactPath } from '../../src/core/redact.ts';
import { isRedacted, markName, REDACTED } from '../../src/core/redaction-mark.ts';

/** Put together at run time, so that no scanner takes this file for a leak. */
const BODY = 'a1B2c3D4e5F6g7H8i9J0';
const HEX = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const SHAPES: Readonly<Record<string, string>> = {
  GH: `ghp_${BODY}${BODY}`,
  GHS: `ghs_${BODY}${BODY}`,
  PAT: `github_pat_${BODY}_${BODY}`,
  GL: `glpat-${BODY}`,
  ANT: `sk-ant-api03-${BODY}-${BODY}_x`,
  OAI: `sk-proj-${BODY}${BODY}`,
  SK: `sk-${BODY}${BODY}`,
  STRIPE: `sk_live_${BODY}`,
  SLACK: `xoxb-123456789012-${BODY}`,
  AKIA: `AKIA${'ABCDEFGH12345678'}`,
  GOOGLE: `AIza${BODY}${BODY}`,
  NPM: `npm_${BODY}${BODY}`,
  PYPI: `pypi-AgEIcHlwaS5vcmc${BODY}${BODY}`,
  HF: `hf_${BODY}${BODY}`,
  DO: `dop_v1_${HEX}${HEX}`,
  DOCKER: `dckr_pat_${BODY}x_y-z`,
  SG: `SG.${BODY}.${BODY}`,
  VAULT: `hvs.${BODY}${BODY}`,
  JWT: `eyJ${BODY}.eyJ${BODY}.${BODY}`,
  HEX,
  RANDOM: BODY,
};

/** A line as a shell would split it: quotes group, and a backslash before a quote inside double quotes is kept. */
function split(line: string): string[] {
  return (line.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    word.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_: string, a?: string, b?: string) =>
      a === undefined ? (b ?? '') : a,
    ),
  );
}

function fillIn(line: string): string {
  return line.replaceAll(/\{([A-Z]+)\}/g, (all, name: string) => SHAPES[name] ?? all);
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => fillIn(line.trim()))
    .filter((line) => line !== '');
}

/** Secrets stand in «». */
const HIDDEN = linesOf(`
  curl -u «jane:hunter2» https://api.example.com/v1
  curl -u«jane:hunter2» https://api.example.com/v1
  curl --user «jane:hunter2» https://api.example.com/v1
  curl --user=«jane:hunter2» https://api.example.com/v1
  curl -sSu «jane:hunter2» https://api.example.com/v1
  curl --proxy-user «jane:hunter2» https://api.example.com/v1
  curl -U «jane:hunter2» -x proxy:3128 https://api.example.com/v1
  curl -H 'Authorization: Bearer «{GH}»' https://api.github.com/user
  curl -H 'Authorization: token «abcdef1234»' https://api.github.com/user
  curl -H 'authorization: Basic «amFuZTpodW50ZXIy»' https://api.example.com
  curl -H "X-Api-Key: «abc-def-ghi»" https://api.example.com
  curl -H X-Api-Key:«{HEX}» https://api.example.com
  curl -H 'X-Auth-Token: «gAAAAABf»' https://cloud.example.com
  curl -H 'PRIVATE-TOKEN: «{GL}»' https://gitlab.example.com/api/v4
  curl -H 'Cookie: «session=abc123def»' https://example.com
  curl --header='Authorization: Bearer «abcdefgh»' https://example.com
  curl -b '«sid=abc123»' https://example.com
  curl --cookie '«sid=abc123»' https://example.com
  curl --oauth2-bearer «abcdefgh» https://example.com
  curl -d 'username=jane&password=«hunter2»' https://example.com/login
  curl -d '{"username":"jane","password":"«hunter2»"}' https://example.com/login
  curl --data '{"auth": {"token": "«abc123»"}}' https://example.com/login
  curl --data-raw '{"apiKey":"«abc123»","q":1}' https://example.com/search
  curl -d "{\\"token\\":\\"«abc123»\\"}" https://example.com
  curl https://«jane:hunter2»@example.com/file
  curl «jane:hunter2»@example.com/file
  curl 'https://example.com/file?access_token=«abc123»&page=2'
  curl 'https://example.com/file?page=2&api_key=«abc123»'
  curl 'https://example.com/file?token=«abc123»#top'
  curl 'https://maps.googleapis.com/maps/api/geocode/json?key=«{GOOGLE}»&address=x'
  curl 'https://account.blob.core.windows.net/c/f?sv=2024&sig=«Zm9v%2Bbar%3D»'
  curl 'https://b.s3.amazonaws.com/f?X-Amz-Credential=«AKIDEXAMPLE%2F2024»&X-Amz-Signature=«0a1b2c»'
  curl -X POST https://hooks.slack.com/services/«T000/B000/XXXX0000»
  curl -X POST https://discord.com/api/webhooks/«1234567890/abcDEF-ghi»
  curl https://api.telegram.org/«bot123456789:AAabcdefghij»/sendMessage
  wget --password=«hunter2» https://example.com/f
  wget --http-password=«hunter2» https://example.com/f
  wget --header='Authorization: Bearer «abcdefgh»' https://example.com/f
  http -a «jane:hunter2» --auth=«jane:hunter2» example.com
  git clone https://«{GH}»@github.com/owner/repo.git
  git clone https://«x-access-token:{GHS}»@github.com/owner/repo.git
  git clone https://«oauth2:{GL}»@gitlab.com/owner/repo.git
  git remote set-url origin https://«jane:hunter2»@example.com/r.git
  git push https://«jane:hunter2»@example.com/r.git main
  git -c http.extraHeader='Authorization: Basic «amFuZTpodW50ZXIy»' fetch
  git -c http.https://github.com/.extraheader='AUTHORIZATION: basic «amFuZTpodW50ZXIy»' fetch
  git config --global github.token «0123456789abcdef»
  git config user.password «hunter2»
  npm config set //registry.example.com/:_authToken «abc-123»
  npm config set //registry.example.com/:_authToken=«abc-123»
  npm config set _auth «amFuZTpodW50ZXIy»
  npm publish --otp «123456»
  npm publish --otp=«123456»
  npm login --//registry.example.com/:_authToken=«{NPM}»
  yarn config set npmAuthToken «{NPM}»
  yarn npm publish --otp «123456»
  pnpm publish --token «abc123»
  pip install --index-url https://«jane:hunter2»@pypi.example.com/simple pkg
  pip config set global.index-url https://«jane:hunter2»@pypi.example.com/simple
  twine upload -u __token__ -p «{PYPI}» dist/x.whl
  twine upload --password «{PYPI}» dist/x.whl
  poetry config pypi-token.pypi «{PYPI}»
  poetry publish --username jane --password «hunter2»
  cargo login --token «abc123def»
  cargo publish --token «abc123def»
  gem push --key=«0123abcd4567» x.gem
  docker login -u jane -p «hunter2» registry.example.com
  docker login -u jane --password «hunter2» registry.example.com
  docker login --username jane --password=«{DOCKER}»
  docker run -e MYSQL_ROOT_PASSWORD=«hunter2» mysql:8
  docker run --env API_TOKEN=«abc123» app
  docker run --env=API_TOKEN=«abc123» app
  docker build --build-arg NPM_TOKEN=«{NPM}» .
  docker build --build-arg=GITHUB_TOKEN=«{GH}» .
  docker exec db psql postgresql://«app:hunter2»@localhost/app
  podman login -p «hunter2» quay.io
  helm install app chart --set auth.password=«hunter2»
  helm install app chart --set-string secret.apiKey=«abc123»
  helm registry login ghcr.io -u jane -p «{GH}»
  kubectl create secret generic db --from-literal=password=«hunter2»
  kubectl create secret docker-registry r --docker-username=jane --docker-password=«hunter2»
  kubectl config set-credentials jane --token=«{JWT}»
  kubectl --token «{JWT}» get pods
  kubectl --token=«abcdef» get pods
  kubectl exec app -- env DB_PASSWORD=«hunter2» ./run
  oc login -u jane -p «hunter2» https://api.example.com:6443
  oc login --token=«sha256~abcdef»
  aws configure set aws_secret_access_key «wJalrXUtnFEMIK7MDENGbPxRfiCY»
  aws configure set aws_session_token «FwoGZXIvYXdz»
  aws s3 ls --profile x «{AKIA}»
  aws rds create-db-instance --master-user-password «hunter2»
  aws secretsmanager put-secret-value --secret-id prod/db --secret-string «hunter2»
  AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMIK7MDENG/bPxRfiCY» aws s3 ls
  env AWS_SESSION_TOKEN=«FwoGZXIvYXdz» aws s3 ls
  az login --service-principal -u app -p «abc.123» --tenant t
  az storage blob list --account-key «Zm9vYmFyYmF6cXV4==»
  az storage blob list --sas-token «sv=2024&sig=abc»
  gcloud auth activate-service-account --access-token=«ya29.abc»
  gh auth login --with-token «{GH}»
  gh secret set DEPLOY --body «hunter2»
  gh secret set DEPLOY -b «hunter2»
  gh api -H 'Authorization: token «{GH}»' /user
  glab auth login --token «{GL}»
  heroku config:set API_SECRET=«abc123»
  vercel --token «abc123def»
  vercel deploy --token=«abc123def»
  netlify deploy --auth «0a1b2c3d4e5f»
  fly deploy --access-token «fo1_abc123»
  wrangler secret put --api-token «abc123»
  terraform apply -var db_password=«hunter2»
  terraform apply -var 'db_password=«hunter2»'
  terraform init -backend-config=access_key=«abc123»
  ansible-playbook site.yml -e ansible_become_pass=«hunter2»
  ansible-playbook site.yml --extra-vars 'db_password=«hunter2» env=prod'
  vault login «{VAULT}»
  vault login -method=token token=«abc123»
  vault kv put secret/app password=«hunter2»
  vault write auth/approle/login role_id=app secret_id=«0a1b2c3d-4e5f»
  psql postgresql://«app:hunter2»@db.example.com:5432/app
  psql 'host=db user=app password=«hunter2» dbname=app'
  PGPASSWORD=«hunter2» psql -h db app
  pg_dump --dbname=postgres://«app:hunter2»@db/app
  mysql -u root -p«hunter2» app
  mysql --password=«hunter2» app
  mysqldump -uroot -p«hunter2» app
  sudo mysql -p«hunter2»
  MYSQL_PWD=«hunter2» mysql app
  mongosh -u jane -p «hunter2» mongodb://db
  mongosh mongodb+srv://«jane:hunter2»@cluster.example.com/db
  mongodump --uri=mongodb://«jane:hunter2»@db:27017/app
  redis-cli -a «hunter2» ping
  redis-cli -u redis://«default:hunter2»@cache:6379
  redis-cli --pass «hunter2» ping
  sqlcmd -S db -U sa -P «hunter2»
  ldapsearch -D cn=admin -w «hunter2» -b dc=example
  sshpass -p «hunter2» ssh jane@host
  sshpass -p«hunter2» ssh jane@host
  sshpass -e ssh jane@host env TOKEN=«abc123» run
  ssh host 'export API_KEY=«abc123»; run'
  ssh host "mysql -p«hunter2» app"
  ssh-keygen -t ed25519 -N «hunter2» -f key
  openssl enc -aes-256-cbc -pass pass:«hunter2» -in a
  openssl rsa -in key.pem -passin pass:«hunter2»
  openssl pkcs12 -export -passout pass:«hunter2» -out a.p12
  gpg --batch --passphrase «hunter2» -d a.gpg
  gpg --passphrase=«hunter2» -d a.gpg
  zip -P «hunter2» a.zip b
  unzip -P «hunter2» a.zip
  7z x -p«hunter2» a.7z
  smbclient -U 'jane%«hunter2»' //host/share
  lftp -u 'jane,«hunter2»' sftp://host
  rclone copy --sftp-pass «abc123» a b
  rsync --password=«hunter2» a b
  mosquitto_pub -u jane -P «hunter2» -t x
  openstack --os-password «hunter2» server list
  claude --api-key «{ANT}»
  codex --api-key=«{OAI}»
  llm keys set openai --key «{SK}»
  OPENAI_API_KEY=«{OAI}» node agent.js
  ANTHROPIC_API_KEY=«{ANT}» claude -p hello
  HF_TOKEN=«{HF}» python train.py
  node -e 'fetch("https://x", {headers: {"Authorization": "Bearer «abcdefgh12»"}})'
  node script.js --stripe «{STRIPE}»
  node script.js «{SLACK}»
  python -c 'client = Client(api_key="«abc123»")'
  python -c "client = Client(token='«abc123»')"
  python manage.py --secret-key «abc123»
  deploy --client-secret «abc123» --client-id app
  deploy --clientSecret=«abc123»
  deploy -token «abc123»
  deploy -token=«abc123»
  deploy --webhook «https://example.com/hook/abc»
  deploy --database-url «postgres-dsn-with-things»
  deploy --private-key «MIIEvQIBADANBgkqhkiG9w0BAQEFAASC»
  deploy --ssh-key «b3BlbnNzaC1rZXktdjEAAAAABG5vbmU»
  deploy --signing-key «0a1b2c3d4e5f60718293»
  sh -c 'curl -u «jane:hunter2» https://example.com'
  sh -c "export TOKEN=«abc123» && ./run --password «hunter2» all"
  bash -c 'docker login -u jane -p «hunter2» && docker push x'
  bash -lc 'mysql -p«hunter2» app < dump.sql'
  bash -c "PGPASSWORD='«hunter two»' psql app"
  bash -c 'sshpass -p "«hunter two»" ssh host'
  sh -c 'echo «{GH}» | gh auth login --with-token'
  sh -c 'aws configure set aws_secret_access_key «wJalrXUtnFEMI»'
  sh -c 'DB_URL=mysql://«root:hunter2»@db/app ./migrate'
  app --dsn «root:hunter2»@tcp(localhost:3306)/app
  app --dsn=«abc»
  app 'Server=db;Database=app;User Id=sa;Password=«hunter2»;'
  app --config '{"db":{"password":"«hunter2»","host":"db"}}'
  app --config "{\\"secret\\": \\"«hunter2»\\", \\"host\\": \\"db\\"}"
  app https://example.com/cb#access_token=«abc123»&state=x
  app {"key":"x","refresh_token":"«1//0abc»"}
  curl -H Authorization: Bearer «abcdefgh1» https://example.com
  curl -H X-Api-Key: «v» https://example.com
  curl --header 'X-Api-Key: «v»' https://example.com
  http example.com Authorization: Basic «amFuZTpodW50ZXIy»
  echo token: «swordfish»
  echo "token": «abc123»
  echo db_password: «correct» horse battery staple
  echo 'db_password: «correct» horse battery staple'
  echo 'Authorization: «Bearer abcdefgh» and the rest'
  echo Authorization: Bearer «abcdefgh» and the rest
  curl -H 'Cookie: «theme=dark; sessionid=abc123»' https://example.com
  curl --header='Cookie: «theme=dark; sessionid=abc123»' https://example.com
  wget --header 'Set-Cookie: «theme=dark; sessionid=abc123; Path=/»' https://example.com
  http example.com 'Cookie:«theme=dark; sessionid=abc123»'
  echo 'Cookie: «theme=dark; sessionid=abc123»'
  sh -c "curl -H 'Cookie: «theme=dark; sessionid=abc123»' https://example.com && ls"
  curl -H 'Authorization: ApiKey «abc123»' https://example.com
  curl -H 'Authorization: Negotiate «YIIabc123»' https://example.com
  curl -H 'Authorization: Whatever «abc 123»' https://example.com
  curl -H 'Proxy-Authorization: NTLM «TlRMTVNTUAAB»' https://example.com
  curl -H 'Authorization: AWS4-HMAC-SHA256 Credential=AKID/2024/s3, SignedHeaders=host;range, Signature=«0a1b2c3d4e5f60718293»' https://example.com
  curl -H 'Authorization: Digest username="jane", nonce="x", response="«0a1b2c3d4e5f60718293»"' https://example.com
  curl -H 'X-Api-Key: «abc|def; ghi»' https://example.com
  curl --proxy-header 'Proxy-Authorization: Whatever «abc123»' https://example.com
  curl -H Authorization: ApiKey «abc123» https://example.com
  echo 'Authorization: ApiKey «abc123»'
  echo 'Authorization: Digest username="jane", response="«0a1b2c3d4e5f60718293»"'
  echo 'Authorization: AWS4-HMAC-SHA256 Credential=AKID/2024, SignedHeaders=host;range, Signature=«0a1b2c3d4e5f60718293»'
  sh -c 'curl -H "Authorization: Whatever «abc123»" -H "X-Api-Key: «abc def»" https://example.com'
  sh -c 'curl -H Authorization:\\ Bearer\\ «abcdefgh» https://example.com'
  app 'Driver={ODBC Driver 17};UID=sa;PWD=«hunter2»;'
  app 'Driver=x;UID=sa;Pwd={«hunter;2»}'
  app --pwd «hunter2»
  app --pw «hunter2»
  app --passcode «hunter2»
  curl 'https://example.com/?pwd=«hunter2»&page=2'
  plink -pw «hunter2» host
  sh -c '(curl -u «jane:hunter2» https://example.com)'
  sh -c 'x=$(mysql -p«hunter2» app)'
  sh -c 'x="$(mysql -p«hunter2» app)"'
  sh -c 'x=\`mysql -p«hunter2» app\`'
  sh -c 'true;curl -u «jane:hunter2» https://example.com'
  sh -c 'true&&curl -u «jane:hunter2» https://example.com'
  sh -c 'cat x|mysql -p«hunter2» app'
  sh -c 'curl -o $(date) -u «jane:hunter2» https://example.com 2>&1'
  sh -c 'curl 2>&1 -u «jane:hunter2» https://example.com'
  sh -c 'bash -c "curl -u «jane:hunter2» https://example.com"'
  sh -c "echo it's; curl -u «jane:hunter2» https://example.com"
  sh -c "mysql -p'«hunter two»' app; ls"
  sh -c 'run --token «-AbC123dEf456» all'
  app --token «-AbC123dEf456»
  app --api-key «-a1b2c3d4e5f6g7h8»
  curl https://«jane:hun@ter2»@example.com/file
  curl https://«jane@example.org:hunter2»@example.com/file
  curl ftp://«jane@example.org:hunter2»@example.com/file
  python -c 'import os; os.environ["API_TOKEN"]="«abc123»"'
  python -c "os.environ['API_TOKEN'] = '«abc123»'"
  python -c 'os.environ.setdefault("API_TOKEN", "«abc123»")'
  python -c 'requests.get(u, auth=("jane", "«hunter2»"))'
  python -c 'requests.get(u, auth=HTTPBasicAuth("jane", "«hunter2»"))'
  python -c 'subprocess.run(["curl","-u","«jane:hunter2»","https://example.com"])'
  python -c 'subprocess.run(["curl", "-u", "«jane:hunter2»"])'
  node -e 'process.env["API_TOKEN"]="«abc123»"; run()'
  node -e 'headers.set("Authorization", "Whatever «abc123»")'
  curl 'https://example.com/?access%5Ftoken=«abc123»&page=2'
  curl 'https://example.com/?%61ccess_token=«abc123»'
  curl 'https://example.com/?next=https%3A%2F%2F«jane%3Ahunter2»%40example.org%2Fx'
  curl 'https://example.com/?next=https%3A%2F%2F«{GH}»%40example.org%2Fx'
  curl 'https://example.com/?next=%2Fcb%3Faccess_token%3D«abc123»%26page%3D2'
  openssl enc -aes-256-cbc -k «hunter2» -in a
  openssl enc -aes-256-cbc -K «{HEX}» -in a
  openssl enc -aes-256-cbc -pass 'pass:«hunter two»' -in a
  psql -c "ALTER USER jane PASSWORD '«hunter2»'"
  mysql -e "CREATE USER jane IDENTIFIED BY '«hunter2»'"
  sh -c 'echo machine example.com login jane password «hunter2» >> ~/.netrc'
  sh -c 'PGPASSWORD=«hunter2» psql app; ls'
  sh -c 'export DB_PASSWORD="«hunter two»"; ls'
  env 'DB_PASSWORD=«hunter two»' run
  env 'DB_PASSWORD=«hunter&two;»' run
  docker run -e 'DB_PASSWORD=«hunter two»' app
  curl -F 'token=«abc 123»' https://example.com
  curl --data-urlencode 'password=«hunter & two»' https://example.com
  app '--api-key=«abc 123; def»'
  gpg -c --passphrase «hunter2» a
  sh run.sh gpg -c --passphrase «hunter2» a
  sh run.sh ssh host tool --password «hunter2»
  rar a -hp«hunter2» a.rar b
  echo «{DO}»
  echo «{SG}»
  echo «{PAT}»
  echo «{JWT}»
`);

const HIDDEN_PATHS = linesOf(`
  /home/u/.cache/«{GH}»/x
  /tmp/upload-«{NPM}».json
  /tmp/«{JWT}»
  /srv/keys/«{AKIA}».csv
  /tmp/«{ANT}»
  /tmp/download?access_token=«abc»
  /tmp/file.bin?page=2&token=«abc»&x=1
  /tmp/token=«abc123def456»/x
  /tmp/API_KEY=«abc123def456»
  /home/u/.cache/git/https:/«jane:hunter2»@example.com/r.git
  /home/u/.cache/git/https://«jane:hunter2»@example.com/r.git
  /tmp/«{SLACK}».log
  /tmp/«{STRIPE}»
  /tmp/a/«{HF}»/config.json
  /tmp/password=«hunter2»
`);

const KEPT = linesOf(`
  git clone git@github.com:owner/repo.git
  git clone ssh://git@github.com/owner/repo.git
  git clone https://github.com/owner/repo.git
  git commit -m 'Fix token refresh in auth module'
  git commit -m 'auth: Refresh before expiry'
  git commit -m 'secret: of the trade'
  git commit -m 'Fix token: it was never refreshed'
  git commit -m 'Keep secret: never print it'
  git commit -m 'secrets: Add a page'
  gh issue create --title 'Auth token: expires too soon'
  claude -p 'The access token: where is it read?'
  echo secret: of the trade
  echo passwords: 12 found
  echo 'tokens: 12 found'
  grep -rn password: src
  git grep -n token: main
  grep -n 'token: string' src/a.ts
  rg 'apiKey: string;' src
  git commit -m "Rename password.ts to passphrase.ts"
  git commit --author 'Jane Doe <jane@example.org>' -m x
  git checkout 3f786850e387550fdab836ed7e6dc881de23001b
  git diff 3f78685..89e6c98 -- src/token.ts
  git log --author=jane@example.org --grep=secret
  git push origin feature/api-key-rotation
  git config user.email jane@example.org
  git config credential.helper store
  git config --global gpg.program gpg2
  git -c credential.helper= fetch
  git -c core.sshCommand='ssh -i ~/.ssh/id_ed25519' fetch
  git branch -D secret-branch
  git tag -s v1.2.3 -u 0xDEADBEEF
  git show HEAD:src/secrets/index.ts
  git rev-parse --short=12 HEAD
  git cat-file -p e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
  git stash push -m 'wip: token parser'
  git fetch origin pull/123/head:pr-123
  git worktree add ../auth-fix main
  git grep -n password -- '*.ts'
  npm ci --no-audit --no-fund
  npm install jsonwebtoken@9.0.2 passport keytar
  npm install left-pad@npm:right-pad@1.0.0
  npm install https://packages.example.org/keyv/-/keyv-4.5.4.tgz
  npm run build:token
  npm run auth:login
  npm run test -- --testNamePattern='token expiry'
  npm config set registry https://registry.example.com/
  npm config get //registry.example.com/:_authToken
  npm view secret-utils version
  npm token list
  npm audit signatures
  npm exec --package=@scope/secret-tool -- secret-tool scan
  npx tsc -p tsconfig.json --noEmit
  npx eslint src/auth src/tokens.ts
  npx jest --testPathPattern=auth
  npx prettier --write 'src/**/*.{ts,tsx}'
  npx playwright test --grep @auth
  pnpm add passwordless
  pnpm --filter @scope/auth build
  yarn workspace @scope/tokens build
  yarn add keyv@^4.5.4
  pip install -r requirements.txt
  pip install --hash=sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 pkg
  pip install tokenizers==0.15.2 sentencepiece
  python -m pytest tests/test_auth.py -k 'token and not secret'
  python train.py --tokenizer bert-base-uncased --max-tokens 2048
  python train.py --num-tokens 100 --tokens=512k
  python train.py --tokenizer-path /models/tok.json
  python -c 'print("token")'
  python -m keyring --list-backends
  python manage.py createsuperuser --username admin --email admin@example.org
  cargo build --release --features=auth,tokens
  cargo test password::tests::rejects_empty
  go test ./internal/auth/... -run TestToken
  go build -o bin/keyserver ./cmd/keyserver
  make -j4 all
  make KEYBOARD=us
  cmake -DCMAKE_BUILD_TYPE=Release -DUSE_AUTH=ON ..
  gcc -o tokenizer tokenizer.c -lcrypto
  curl -fsSL https://example.com/install.sh
  curl -H 'Accept: application/json' https://api.example.com/v1/tokens
  curl -H 'Content-Type: application/json' -d '{"name":"jane"}' https://example.com
  curl -b cookies.txt -c cookies.txt https://example.com
  curl --cookie-jar jar.txt https://example.com
  curl --key client.pem --cert client.crt https://example.com
  curl --key /etc/ssl/private/client.key https://example.com
  curl --proto '=https' --tlsv1.2 https://sh.rustup.rs
  curl https://example.com/@scope/package
  curl http://localhost:4873/@scope/package
  curl http://[::1]:5173/@vite/client
  curl 'https://example.com/search?q=password+manager&page=2'
  curl 'https://example.com/?id=3f786850e387550fdab836ed7e6dc881de23001b'
  curl -o /dev/null -w '%{http_code}' https://example.com
  curl --retry 3 --max-time 10 https://example.com
  curl -x http://proxy:3128 https://example.com
  wget -O key.asc https://download.docker.com/linux/debian/gpg
  wget -q https://example.com/secrets-of-the-sea.pdf
  docker run -p 8080:80 nginx:latest
  docker run -p 127.0.0.1:5432:5432 postgres:16
  docker run -e NODE_ENV=production -e PORT=8080 app
  docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/db postgres
  docker run -v /run/secrets:/run/secrets:ro app
  docker run -v secrets:/data app
  docker run --rm -it auth:latest
  docker run token-service:1.2.3
  docker run registry.example.com/auth:v2
  docker pull node@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
  docker pull node:20@sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
  docker login -u jane --password-stdin registry.example.com
  docker build --secret id=npmrc,src=.npmrc -t app .
  docker build --build-arg VERSION=1.2.3 --target auth .
  docker run --mount=type=secret,id=npmrc app
  docker compose -f docker-compose.auth.yml up -d
  docker secret ls
  docker network create auth-net
  kubectl get secrets -n auth
  kubectl get secret db -o yaml
  kubectl create secret generic db --from-file=ssh-privatekey=/home/u/key.pem
  kubectl create secret tls web --cert=web.crt --key=web.key
  kubectl describe pod auth-7d4b9c6f5d-x2x8z
  kubectl rollout restart deployment/token-service
  kubectl auth can-i get pods
  kubectl -n kube-system get serviceaccount token-cleaner
  kubectl port-forward svc/auth 8080:80
  kubectl delete secret old-secret
  kubectl create token default --duration=1h
  helm upgrade auth ./chart -f values.yaml --set image.tag=1.2.3
  helm template x --set auth.enabled=true --set auth.existingSecret.name=db
  aws s3 cp s3://bucket/key.json .
  aws s3api get-object --bucket b --key path/to/object.json out
  aws secretsmanager get-secret-value --secret-id prod/db
  aws kms encrypt --key-id alias/app --plaintext fileb://x
  aws ec2 create-key-pair --key-name deploy
  aws sts get-session-token --duration-seconds 3600
  aws sts get-caller-identity
  aws ecr get-login-password --region eu-west-1
  aws iam list-access-keys --user-name jane
  aws cognito-idp list-users --user-pool-id eu-west-1_AbCdEfGhI
  aws dynamodb query --key-condition-expression 'pk = :pk'
  gcloud auth login --brief
  gcloud auth application-default print-access-token
  gcloud secrets versions list db
  GOOGLE_APPLICATION_CREDENTIALS=/run/gcp.json gcloud info
  gh auth status
  gh auth login --web --git-protocol https
  gh pr create --title 'Add token auth' --body 'See the issue'
  gh secret list
  gh api repos/owner/repo/actions/secrets
  az account show --output json
  terraform plan -var-file=secrets.tfvars
  terraform apply -var region=eu-west-1
  ansible-playbook site.yml --vault-password-file ~/.vault
  ansible-vault view secrets.yml
  vault kv get secret/data/app
  vault token lookup
  vault auth list
  psql -h db -U app -d app -c 'select token_id from tokens'
  psql postgresql://app@db/app
  psql 'host=db user=app dbname=app sslkey=/etc/client.key'
  pg_dump -h db -p 5432 app
  mysql -h db -P 3306 -u root app
  mysql -u root -p app
  mysqldump --single-transaction app users
  redis-cli -h cache -p 6379 get session:42
  redis-cli keys 'token:*'
  sqlite3 tokens.db .schema
  mongosh mongodb://localhost:27017/app
  ssh -i ~/.ssh/id_ed25519 jane@host
  ssh -p 2222 jane@host uptime
  ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null host
  ssh -o IdentityFile=~/.ssh/key -o PasswordAuthentication=no host
  ssh-keygen -t ed25519 -C jane@example.org -f key
  ssh-keygen -lf key.pub
  ssh-add ~/.ssh/id_ed25519
  scp -P 2222 secrets.tar jane@host:/tmp
  rsync -av --password-file=/etc/rsync.pw a b
  sort --key=2,2n -t : file
  sort -k2 --key 3 file
  openssl rsa -in key.pem -passin file:pw.txt
  openssl dgst -sha256 token.txt
  openssl req -newkey rsa:2048 -keyout key.pem -out req.csr
  openssl rand -hex 32
  gpg --recv-keys 0x3AA5C34371567BD2
  gpg --keyserver keys.openpgp.org --recv-keys 3AA5C34371567BD2
  gpg --verify SHA256SUMS.asc
  gpg --export-secret-keys --armor jane
  ffmpeg -i a.mp4 -passlogfile log -b:v 1M b.mp4
  convert image.png -bordercolor red out.png
  jq '.token' response.json
  jq -r .auths config.json
  grep -rn password src
  grep -r 'api_key' --include=*.ts .
  rg -n 'secret|token' src
  find . -name '*.key' -o -name '*.pem'
  ls -la ~/.aws/credentials
  cat /etc/passwd
  cat ~/.ssh/authorized_keys
  chmod 600 ~/.ssh/id_rsa
  sed -i s/token/ticket/ src/a.ts
  awk -F: '{print $1}' /etc/passwd
  tar czf secrets.tar.gz secrets/
  echo 'the password is in the vault'
  echo password
  printf '%s\\n' token
  sha256sum -c SHA256SUMS
  sha256sum 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
  uuidgen --namespace @dns --name example.com --sha1
  kill -9 12345
  node --test test/auth.test.ts
  node -e 'console.log(process.env.TOKEN)'
  node server.js --port 8080 --host 0.0.0.0
  node script.js 550e8400-e29b-41d4-a716-446655440000
  node script.js sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==
  vitest run test/core/redact.test.ts
  tsx src/main.ts --no-auth --skip-password
  app --password-policy strict --token-ttl 3600
  app --auth basic --auth-type oauth2
  app --auth=none --cookie=false
  app --token-file /run/secrets/token
  app --password-prompt yes
  app --session main --monkey 3 --compass north
  app --public-key MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7
  app --cache-key linux-npm-0a1b2c3d4e5f
  app --ssh-key ~/.ssh/id_ed25519
  app --private-key=./deploy.pem
  app --credentials ./creds.json
  app --bypass 10.0.0.0/8
  app --no-token x
  app --secret-name db
  app --keyboard us --keymap vi
  app --tokenize words
  app to:jane@example.org
  app 1:2@3
  app --max-tokens=100 monkeys=2
  app data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4
  claude -p 'Refactor the token parser' --model opus
  claude --allowedTools Read,Write --max-turns 5
  codex exec 'write tests for password.ts'
  sh -c 'for f in *.key; do echo "$f"; done'
  sh -c 'test -n "$TOKEN" && echo set'
  bash -c 'cat secrets.txt | wc -l'
  bash -c 'npm ci && npm test -- auth'
  sh -c 'set +e; cat ../secret 2> /dev/null; exit 5'
  wasm-opt a.wasm --pass-arg=asyncify-imports@env.await -O2
  env NODE_ENV=test PATH=/usr/bin npm test
  tmux new-session -s auth
  tmux send-keys -t main 'npm test' Enter
  systemctl restart auth.service
  journalctl -u token-service -n 100
  git commit -m 'Basic understanding of things'
  git commit -m 'Basic JavaScript and python3.11 support'
  git commit -m 'Bearer authentication is described'
  git commit -m 'Use --token to log in'
  git commit -m 'Authorization: Fix the header'
  ffmpeg -i a.mp4 -pass 1 -passlogfile log b.mp4
  ffmpeg -i a.mp4 -pass 2 b.mp4
  app --max-token 100 --min-new-token=8
  app --auth=oauth2 --auth sigv4
  app --key ed25519 --key=rsa4096
  app --token -v --password --verbose
  sort --key 3n,3 file
  sort --key=2.3,2.5nr file
  python -c 'max(d, key=d.get)'
  python -c max(d,key=d.get)
  python -c 'sorted(x, key=itemgetter(1), reverse=True)'
  python -c 'x = dict(token=None, key=3)'
  python -c 'if token == "": pass'
  cat sk-admin-panel-translations.json AIzawa-nagisa-photo-collection-2024-xx.jpg xoxo-lovely-letter-2024
  cat sk-ant-payload-number-001.sh sk-proj-plan-for-2024.md sk_test_connections.py
  cat github_pat_rotation_script_2024 glpat-rotation-script-2024 dckr_pat_rotation_for_everyone
  cat xoxb-letters-from-2024.txt hvs.notes-about-the-vault-2024
  curl -H 'Idempotency-Key: 550e8400-e29b-41d4-a716-446655440000' https://example.com
  curl -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' https://example.com
  curl -d '{"url":"https://a.example","mail":"jane@example.org"}' https://example.com
  curl 'https://example.com/?next=ssh%3A%2F%2Fgit%40github.com%2Fx'
  git clone git+ssh://git@github.com:owner/repo@v1
  openssl req -newkey rsa:2048 -keyout k.pem -check
  openssl rsa -in key.pem -pass file:pw.txt
  env PWD=/w/x ls
  sh -c 'PWD=/some/path; ls'
  sh -c 'PWD=$(pwd) ls; PWD=\`pwd\` ls; PWD=~/x ls; PWD="$HOME/x" ls'
  sh -c 'TOKEN=$(cat /run/token) run; TOKEN= run'
  sh -c '[ "$TOKEN" = "" ] && echo none'
  sh -c 'KEY=1; echo evil > payload.sh; sh payload.sh'
  sh -c 'PASS=0; for t in *; do run "$t"; done'
  sh -c KEY=1;evil>x
  ssh host KEY=1;evil
  ruby -e 'KEY=1 if system "evil"'
  awk -F= '/token=/ {print $2}' file
  sk-learn-contrib-and-friends
  task-list-for-the-next-2000-years
`);

const KEPT_PATHS = linesOf(`
  /
  /usr/bin/node
  /w/node_modules/secret-utils/index.js
  /w/tokens.json
  /w/src/password.ts
  /w/src/auth/token.service.ts
  /home/u/.ssh/id_ed25519
  /home/u/.aws/credentials
  /home/u/.npmrc
  /etc/passwd
  /etc/ssl/private/server.key
  /w/.git/objects/3f/786850e387550fdab836ed7e6dc881de23001b
  /w/.git/refs/heads/feature/api-key-rotation
  /w/.git/objects/pack/pack-89e6c98d92887913cadf06b2adb97f26cde4849b.idx
  /home/u/.npm/_cacache/content-v2/sha512/ab/cd/ef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789
  /home/u/.npm/_cacache/tmp/550e8400
  /home/u/.cache/pip/http/a/b/c/d/e/abcde0123456789abcdef0123456789abcdef0123456789abcdef01
  /home/u/.cache/node-gyp/20.11.0/include/node/node_api.h
  /home/u/.local/share/pnpm/store/v3/files/00/0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f
  /w/node_modules/.pnpm/@babel+core@7.24.0/node_modules/@babel/core/lib/index.js
  /w/node_modules/.pnpm/react-dom@18.2.0_react@18.2.0/node_modules/react-dom/index.js
  /w/node_modules/@scope/auth/dist/index.js
  /w/node_modules/keyv/src/index.js
  /w/node_modules/jsonwebtoken/sign.js
  /w/node_modules/.vite/deps_temp_0a1b2c3d/chunk-ABCDEFGH.js
  /w/dist/assets/index-BxKj3_9a.js
  /w/dist/assets/vendor.2cf24dba5fb0a30e26e83b2ac5b9e29e.js
  /w/public/iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4.png
  /w/locales/sk-translations-v2-final-2024.json
  /w/test/sk_test_fixtures.py
  /w/pypi-attestations-0.0.20-py3-none-any-with-a-long-name.whl
  /w/data/year=2024/month=01/key=5/part-00000.parquet
  /w/data/token=valid/part-00000.parquet
  /w/data/secret=none/part.csv
  /var/lib/docker/overlay2/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824/diff
  /var/lib/systemd/units/getty@tty1.service
  /run/user/1000/keyring/ssh
  /run/secrets/db_password
  /proc/self/fd/3
  /sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice
  /tmp/vscode-ipc-550e8400-e29b-41d4-a716-446655440000.sock
  /tmp/npm-1234-0a1b2c3d/package.tgz
  /tmp/ssh-XXXXabcdEFGH/agent.12345
  /tmp/tmp.AbCdEfGhIj/secret.txt
  /tmp/pytest-of-root/pytest-0/test_token_expiry0/token.json
  /w/__pycache__/secrets.cpython-311.pyc
  /w/target/debug/deps/tokio-0a1b2c3d4e5f6071.rlib
  /w/target/debug/.fingerprint/password-hash-0a1b2c3d4e5f6071/lib-password-hash
  /usr/lib/python3/dist-packages/keyring/credentials.py
  /usr/share/zoneinfo/Europe/Berlin
  /w/a@b:c@d
  /w/user:pass/x
  /w/eyJ/short.eyJ.x
  /w/AKIAB/x
  /w/ghp_short
  /home/u/.gradle/caches/modules-2/files-2.1/com.example/token/1.0/0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d/token-1.0.jar
  /nix/store/0a1b2c3d4e5f6g7h8i9j0k1l2m3n4p5q-openssl-3.0.13/lib/libssl.so.3
`);

describe('what must not be seen', () => {
  it('is a large collection', () => {
    expect(HIDDEN.length + HIDDEN_PATHS.length).toBeGreaterThanOrEqual(150);
    for (const line of [...HIDDEN, ...HIDDEN_PATHS]) expect(line).toMatch(/«.+»/);
  });

  it.each(HIDDEN)('%s', (line) => {
    const secrets = Array.from(line.matchAll(/«([^»]*)»/g), (found) => found[1] ?? '');
    const argv = split(line.replaceAll(/[«»]/g, ''));
    const shown = redactArgv(argv);
    const other = redactArgv(
      split(line.replaceAll(/«[^»]*»/g, (all) => another(all.slice(1, -1)))),
    );
    for (const secret of secrets) expect(shown.join(' ')).not.toContain(secret);
    expect(shown.join(' ')).toContain(REDACTED);
    expect(shown).toHaveLength(argv.length);
    expect(shown[0]?.slice(0, 3)).toBe(argv[0]?.slice(0, 3));
    // Two secrets do not make two records.
    expect(other).toEqual(shown);
    expect(redactArgv(shown)).toEqual(shown);
  });

  it.each(HIDDEN_PATHS)('%s', (line) => {
    const path = line.replaceAll(/[«»]/g, '');
    const shown = redactPath(path);
    const plain = shown.replaceAll(/\[redacted:[0-9a-f]{16}\]/g, REDACTED);
    expect(plain).toBe(line.replaceAll(/«[^»]*»/g, REDACTED));
    expect(redactPath(shown)).toBe(shown);
  });
});

/** What a script does stays in sight, whatever in it looks like a secret. */
const SCRIPTS: readonly (readonly [script: string, shown: string])[] = [
  ['PASS=abc; evil x', 'PASS=[redacted]; evil x'],
  ['PASS=abc;evil>x', 'PASS=[redacted];evil>x'],
  ['X_KEY=a1b2|evil>x', 'X_KEY=[redacted]|evil>x'],
  ['PGPASSWORD=x psql -c y', 'PGPASSWORD=[redacted] psql -c y'],
  ['TOKEN=a b c', 'TOKEN=[redacted] b c'],
  ['TOKEN= evil x', 'TOKEN= evil x'],
  ['echo "TOKEN="; evil; echo "x"', 'echo "TOKEN="; evil; echo "x"'],
  ['TOKEN=\\"; evil; echo \\"', 'TOKEN=\\"; evil; echo \\"'],
  ['Cookie: 1; evil x', 'Cookie: 1; evil x'],
  ["''Cookie: a1b2c3; evil; true ''", "''Cookie: [redacted]; evil; true ''"],
  ['Authorization: x;evil y', 'Authorization: [redacted];evil y'],
  ['x ://a:x;evil;@b', 'x ://a:x;evil;@b'],
  ['x hooks.slack.com/services/;evil>y', 'x hooks.slack.com/services/;evil>y'],
  ['x ?sig=1;evil>y', 'x ?sig=[redacted];evil>y'],
  ['--pass=1 ; evil x', '--pass=1 ; evil x'],
  ['tool --password\nevil x', 'tool --password\nevil x'],
  ['tool --password \\\n abc', 'tool --password \\\n [redacted]'],
  ['tool --password\\\n abc', 'tool --password\\\n [redacted]'],
  ['a <<E\npassword: abc\nE\nevil', 'a <<E\npassword: [redacted]\nE\nevil'],
  ['eval "KEY=1;evil x"', 'eval "KEY=1;evil x"'],
  ['bash -c "PASS=abc;evil"', 'bash -c "PASS=[redacted];evil"'],
  [
    `: -----BEGIN ${'PRIVATE'} KEY-----; evil; : -----END ${'PRIVATE'} KEY-----`,
    ': [redacted]; evil; : -----END PRIVATE KEY-----',
  ],
  [
    `: -----BEGIN ${'PRIVATE'} KEY-----\nrm -rf x\n: -----END ${'PRIVATE'} KEY-----`,
    ': [redacted]\nrm -rf x\n: -----END PRIVATE KEY-----',
  ],
];

describe('a script', () => {
  it.each(SCRIPTS)('%j → %j', (script, shown) => {
    expect(redactArgv(['sh', '-c', script])).toEqual(['sh', '-c', shown]);
    expect(redactArgv(['sh', '-c', shown])).toEqual(['sh', '-c', shown]);
  });

  it.each([
    [['bash', '-c', '-H', 'Cookie: 1; evil']],
    [['bash', '--rcfile', 'curl', '-c', '-u', 'evil; x']],
    [['sh', '-c', '--', '--pass=1 ; evil x']],
    [['bash', '-o', 'posix', '-c', '-u', '-x', 'KEY=1;evil']],
  ])('stays in sight in %j', (argv) => {
    expect(redactArgv(argv)).toEqual(argv);
  });
});

describe('redactPath()', () => {
  const paths = ['1', '2'].map((end) => `/tmp/ghp_${BODY}${BODY}${end}.sh`);

  it('gives a name with the shape of a key a mark of its own', () => {
    const [one = '', other = ''] = paths.map(redactPath);
    expect(one).toMatch(/^\/tmp\/\[redacted:[0-9a-f]{16}\]\.sh$/);
    expect(one).not.toBe(other);
    expect(redactPath(paths[0] ?? '')).toBe(one);
    expect(one).toBe(`/tmp/${markName(`ghp_${BODY}${BODY}1`)}.sh`);
    expect([one, `/a/${REDACTED}`].every(isRedacted)).toBe(true);
    expect(isRedacted('/tmp/redacted')).toBe(false);
  });

  it.each(['/tmp/token={}', '/tmp/x?token={}&y', '/tmp/https:/{}@example.com'])(
    'keeps it in %s',
    (form) => {
      const path = form.replace('{}', `ghp_${BODY}`);
      expect(redactPath(path)).toBe(form.replace('{}', markName(`ghp_${BODY}`)));
    },
  );

  it('gives none to a value that may be short', () => {
    expect(redactPath('/tmp/password=hunter2')).toBe(`/tmp/password=${REDACTED}`);
  });
});

/** A secret of the same kind: other digits and letters behind what gives it away. */
function another(secret: string): string {
  if (secret.length < 6) return secret;
  return secret.slice(0, -2) + (secret.endsWith('99') ? '88' : '99');
}

describe('what must be seen', () => {
  it('is a large collection', () => {
    expect(KEPT.length + KEPT_PATHS.length).toBeGreaterThanOrEqual(200);
  });

  it.each(KEPT)('%s', (line) => {
    const argv = split(line);
    expect(redactArgv(argv)).toEqual(argv);
  });

  it.each(KEPT_PATHS)('%s', (path) => {
    expect(redactPath(path)).toBe(path);
  });
});
