set -u
export npm_config_cache="$TMPDIR/npm-cache" npm_config_offline=true npm_config_audit=false npm_config_fund=false
export npm_config_update_notifier=false npm_config_loglevel=warn npm_config_userconfig=/dev/null
say() { echo "== $*"; "$@"; echo "=> $?"; }
mkdir -p lib/bin app/packages/inner
cd lib
say npm init -y --init-license=MIT --init-version=1.2.3
cat >package.json <<'JSON'
{"name":"lib","version":"1.2.3","bin":{"lib-tool":"bin/tool.js"},"main":"index.js",
 "scripts":{"prepack":"echo packing > packed.txt","postinstall":"node -e \"require('fs').writeFileSync('installed.txt','yes')\""}}
JSON
printf '#!/usr/bin/env node\nconsole.log("tool", ...process.argv.slice(2), require("..").answer);\n' >bin/tool.js
chmod +x bin/tool.js
echo 'exports.answer = 42;' >index.js
say npm pack --silent
tar -tzf lib-1.2.3.tgz | sort
cd ../app
cat >package.json <<'JSON'
{"name":"app","version":"0.0.1","private":true,"workspaces":["packages/*"],
 "scripts":{"preping":"echo before","ping":"lib-tool ping","postping":"echo after","fails":"exit 7",
 "test":"node --test --test-reporter=tap test.js","env":"echo $npm_package_name $npm_lifecycle_event"}}
JSON
echo '{"name":"inner","version":"1.0.0","scripts":{"hello":"echo inner"}}' >packages/inner/package.json
echo 'const {test}=require("node:test");test("adds",()=>{if(require("lib").answer!==42)throw 1});' >test.js
say npm install ../lib/lib-1.2.3.tgz
cat node_modules/lib/installed.txt; echo
say npm run ping
say npm run ping --silent -- more words
say npm run fails
say npm run env
say npm run hello --workspaces
say npx lib-tool by npx
say npm exec -- lib-tool by exec
say npm test --silent -- --test-reporter=tap
say npm ls --all
say npm install --save-dev file:../lib
say npm ls
say npm ci
say npm install left-pad-that-is-not-there
say npm uninstall lib
say npm pkg set description=words
say npm version patch --no-git-tag-version
say npm config get cache
echo done
