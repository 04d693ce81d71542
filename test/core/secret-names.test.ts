import { describe, expect, it } from 'vitest';
import { isSecretName } from '../../src/core/secret-names.ts';

const SECRET = `
  TOKEN SECRET PASSWORD PASS KEY AUTH CREDENTIALS PASSPHRASE JWT authorization
  DB_PASS MYSQL_PWD SENTRY_DSN SSHPASS PGPASSWORD BW_SESSION GITHUB_PAT DATABASE_URL
  my_service_password accessToken apiKey Secret-Key-Base API_KEY_2 API_KEY2 AzureConnectionString
  npm_config__authToken npm_config__auth npm_config_//host/:_password NPM_CONFIG_OTP
  DB_PW PW PASSCODE access-token x-api-key client.secret SESSION_COOKIE SLACK_WEBHOOK_URL
`;

const HARMLESS = `
  PWD OLDPWD PATH HOME USER EDITOR KEYBOARD KEYMAP AUTHOR COMPASS_X GIT_AUTHOR_NAME
  MAX_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS TOKENIZERS_PARALLELISM DESKTOP_SESSION XDG_SESSION_ID
  NODE_ENV CI https
`;

describe('isSecretName()', () => {
  it.each(SECRET.trim().split(/\s+/))('%s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(HARMLESS.trim().split(/\s+/))('not %s', (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it('not an empty name', () => {
    expect(isSecretName('')).toBe(false);
  });
});
